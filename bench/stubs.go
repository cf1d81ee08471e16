package main

const childEnv = "ROTA_BENCH_CHILD"

func memoryChild(string) error          { return nil }
func concurrentBenchmarks() []benchmark { return nil }
func rivalBenchmarks() []benchmark      { return nil }
func backlogBenchmarks() []benchmark    { return nil }
func memoryBenchmarks() []benchmark     { return nil }
