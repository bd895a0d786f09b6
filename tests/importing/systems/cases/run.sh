db_bench --benchmarks=fillrandom --write_buffer_size=134217728 \
  --cache_size=1073741824 --bloom_bits=10 --compression_type=zstd --max_background_jobs=6 --num=1000
