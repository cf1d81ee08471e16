package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

// The cost of the chain of the audit: the same commands on a store that seals its entries, and on one that does not.
const (
	chainCase  = "audit/chain"
	chainLeast = 0.9 // of the speed without the chain
)

// The stores that are compared.
const (
	chained   = "rota"
	unchained = "without the chain"
)

// chainWork is one kind of audited write.
type chainWork struct {
	name  string
	count int // commands in a turn
	entry string
}

func chainWorks() []chainWork {
	return []chainWork{
		{"single", 100, "PutTemplate alone in its transaction"},
		{"batch", 400, "PutTemplate in transactions of 100"},
		{"prune", 400, "job that is pruned, 200 in a transaction, with two entries each"},
	}
}

func (w chainWork) caseName() string { return chainCase + "/" + w.name }

func chainBenchmarks() (all []benchmark) {
	for _, w := range chainWorks() {
		all = append(all, benchmark{
			cases: []string{w.caseName()},
			bars:  []bar{{caseName: w.caseName(), subject: unchained, against: chained, least: chainLeast}},
			run:   w.run,
		})
	}
	return all
}

// run compares two processes: this program, and this program without the chain, both built in the same way.
func (w chainWork) run(b *bench) (err error) {
	b.report.explain(chainCase+": what is measured", fmt.Sprintf(
		"The processor time per command of a process with a store. %q was built with this change of the source:\n%v", unchained, withoutChain.edits))
	self, err := unchanged.build(b, ".", ".")
	if err != nil {
		return err
	}
	bare, err := withoutChain.build(b, ".", ".")
	if err != nil {
		return err
	}
	var subjects []turnSubject
	for _, one := range []struct{ name, binary string }{{chained, self}, {unchained, bare}} {
		path := b.file("chain-" + w.name + "-" + one.name)
		defer b.drop(path)
		child, err := startChain(one.binary, path)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, child.stop()) }()
		subjects = append(subjects, turnSubject{one.name, func(context.Context) (float64, error) {
			return child.turn(w.name, b.sized(w.count, 4))
		}})
	}
	return b.takeTurns(w.caseName(), "processor time per "+w.entry, subjects...)
}

// chainProcess is a process that opens a store and executes the turns that it reads.
type chainProcess struct {
	child *exec.Cmd
	in    io.WriteCloser
	out   *bufio.Scanner
}

func startChain(binary, path string) (*chainProcess, error) {
	p := &chainProcess{child: exec.Command(binary)}
	p.child.Env = append(os.Environ(), chainEnv+"="+path)
	p.child.Stderr = os.Stderr
	p.child.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	var err error
	if p.in, err = p.child.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := p.child.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.out = bufio.NewScanner(out)
	return p, p.child.Start()
}

// turn executes n commands, and returns the processor time of each in µs.
func (p *chainProcess) turn(work string, n int) (float64, error) {
	if _, err := fmt.Fprintln(p.in, work, n); err != nil {
		return 0, err
	}
	if !p.out.Scan() {
		return 0, errors.Join(errors.New("the process with the store has ended"), p.out.Err())
	}
	return strconv.ParseFloat(strings.TrimSpace(p.out.Text()), 64)
}

func (p *chainProcess) stop() error { return errors.Join(p.in.Close(), p.child.Wait()) }
