package main

import (
	"fmt"
	"regexp"
	"strconv"
	"time"
)

type config struct {
	filter     *regexp.Regexp
	runs       int
	scale      float64 // the published figures are for scale 1
	dir        string
	json       string
	cpuProfile string
	enforce    bool
	churn      time.Duration
}

func configFromEnv(env func(string) string) (c config, err error) {
	c = config{runs: 5, scale: 1, dir: ".", churn: time.Hour, json: env("BENCH_JSON"), cpuProfile: env("BENCH_CPUPROFILE")}
	c.enforce = env("BENCH_ENFORCE") == "1"
	if dir := env("BENCH_DIR"); dir != "" {
		c.dir = dir
	}
	if c.filter, err = regexp.Compile(env("BENCH")); err != nil {
		return c, fmt.Errorf("BENCH: %w", err)
	}
	if text := env("BENCH_RUNS"); text != "" {
		if c.runs, err = strconv.Atoi(text); err != nil || c.runs < 1 {
			return c, fmt.Errorf("BENCH_RUNS is %q; give a number of at least 1", text)
		}
	}
	if text := env("BENCH_SCALE"); text != "" {
		if c.scale, err = strconv.ParseFloat(text, 64); err != nil || c.scale <= 0 || c.scale > 10 {
			return c, fmt.Errorf("BENCH_SCALE is %q; give a number above 0 and up to 10", text)
		}
	}
	if text := env("BENCH_CHURN"); text != "" {
		if c.churn, err = time.ParseDuration(text); err != nil || c.churn < time.Second {
			return c, fmt.Errorf("BENCH_CHURN is %q; give a duration of at least 1s, such as 60m", text)
		}
	}
	return c, nil
}

// sized returns a count multiplied by the scale, and at least least.
func (c config) sized(full, least int) int {
	return max(least, int(float64(full)*c.scale))
}
