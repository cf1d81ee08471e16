//go:build !unix

package dialect_test

import (
	"testing"
	"time"
)

var began = time.Now()

// spent is what the clock says, where nobody says how much of it this process had.
func spent(*testing.T) time.Duration { return time.Since(began) }
