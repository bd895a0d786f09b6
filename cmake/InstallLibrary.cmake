# `cmake --install`: public headers, the static library, the worker, and a package for find_package(rocktune).

include(CMakePackageConfigHelpers)
set(ROCKTUNE_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/rocktune)

install(TARGETS rocktune EXPORT rocktuneTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS rocktune-worker RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY cpp/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT rocktuneTargets NAMESPACE rocktune:: DESTINATION ${ROCKTUNE_PACKAGE_DIR})

configure_package_config_file(cmake/rocktuneConfig.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/rocktuneConfig.cmake
                              INSTALL_DESTINATION ${ROCKTUNE_PACKAGE_DIR})
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/rocktuneConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/rocktuneConfig.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/rocktuneConfigVersion.cmake
        DESTINATION ${ROCKTUNE_PACKAGE_DIR})
