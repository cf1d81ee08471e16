package sandbox

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"time"
)

// resultPipe copies what a program writes to its result. The methods accept nil, for programs without one.
type resultPipe struct {
	r, w *os.File // w is for the program
	done chan error
}

func newResultPipe() (*resultPipe, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	return &resultPipe{r: r, w: w, done: make(chan error, 1)}, nil
}

// copyTo starts to copy. The program has w by now, so it is closed here, and the copy ends with the program.
func (p *resultPipe) copyTo(result io.Writer) {
	if p == nil {
		return
	}
	_ = p.w.Close()
	go func() {
		_, err := io.Copy(result, p.r)
		p.done <- err
	}()
}

// close is for a program that was not started.
func (p *resultPipe) close() {
	if p != nil {
		_, _ = p.w.Close(), p.r.Close()
	}
}

// wait waits for the end of the copy, at most for a time unless that is 0: a process that survives the program may hold the pipe.
func (p *resultPipe) wait(most time.Duration) error {
	if p == nil {
		return nil
	}
	var expired <-chan time.Time
	if most > 0 {
		timer := time.NewTimer(most)
		defer timer.Stop()
		expired = timer.C
	}
	select {
	case err := <-p.done:
		return errors.Join(err, p.r.Close())
	case <-expired:
		_ = p.r.Close() // ends the copy
		<-p.done
		return exec.ErrWaitDelay
	}
}
