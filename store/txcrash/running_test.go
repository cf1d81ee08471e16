//go:build unix

package txcrash

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// running is a process under test.
type running struct {
	*crash
	cmd   *exec.Cmd
	stdin io.Closer
	ready chan struct{} // closed when its engine is ready
	ended chan struct{} // closed when it has ended
}

func (c *crash) start(settings ...string) *running {
	c.Helper()
	p := &running{crash: c, cmd: exec.Command(os.Args[0], "-test.run=^$"), ready: make(chan struct{}), ended: make(chan struct{})}
	p.cmd.Env = append(append(os.Environ(), envStore+"="+c.kind, envTarget+"="+c.target, envLedger+"="+c.path("ledger")), settings...)
	log, err := os.OpenFile(c.path("log"), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	must(c, err)
	defer log.Close()
	p.cmd.Stderr = log
	p.stdin, err = p.cmd.StdinPipe()
	must(c, err)
	out, err := p.cmd.StdoutPipe()
	must(c, err)
	must(c, p.cmd.Start())
	c.T.Cleanup(p.kill)
	go func() {
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			if lines.Text() == "ready" {
				close(p.ready)
			}
		}
		_ = p.cmd.Wait()
		close(p.ended)
	}()
	return p
}

func (p *running) awaitReady() {
	select {
	case <-p.ready:
	case <-p.ended:
	case <-time.After(waitMax):
		p.Error("a process does not become ready")
	}
}

func (p *running) endsWithin(d time.Duration) bool {
	select {
	case <-p.ended:
		return true
	case <-time.After(d):
		return false
	}
}

func (p *running) signal(s syscall.Signal) {
	if !isClosed(p.ended) {
		_ = p.cmd.Process.Signal(s)
	}
}

func (p *running) kill() {
	p.signal(syscall.SIGKILL)
	<-p.ended
	_ = p.stdin.Close()
}

// expectKilled checks that a process did not end by itself.
func (p *running) expectKilled() {
	if status := p.cmd.ProcessState.Sys().(syscall.WaitStatus); status.Signal() != syscall.SIGKILL {
		p.Errorf("a process was not killed but ended with %s", p.cmd.ProcessState)
	}
}

func isClosed(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
