//go:build !unix

package translate_test

import (
	"testing"
	"time"
)

var began = time.Now()

// cpuTime is the elapsed time on systems that do not report the processor time.
func cpuTime(*testing.T) time.Duration { return time.Since(began) }
