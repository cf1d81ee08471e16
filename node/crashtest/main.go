//go:build unix

// Command crashtest is a server of Rota that is made to be killed. It is what
// rota serve is, and besides: its handlers write down what they do in a file
// outside of the data, it ends itself with SIGKILL where it is told to, and a
// ghost takes jobs and is never heard of again. The tests beside it start it,
// load it over HTTP, kill it, and audit what it left.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
	"github.com/rotajobs/rota/node"
)

// What the tests tell the server beside its settings, which are ROTA_… as ever.
const (
	envLedger      = "ROTA_LEDGER" // the file that handlers write to
	envKill        = "ROTA_KILL"   // where to die or to freeze: verb:before|after:n, or another point of kill.go
	envStaleWorker = "ROTA_GHOST"  // how often the ghost comes, and for which type: 500ms:ledger
	envClock       = "ROTA_CLOCK"  // a file with the offset of the clock
	envParent      = "ROTA_PARENT" // if set, the end of standard input is the end of the server, too
)

// exitUnavailable is what rota exits with when it cannot have what it needs.
const exitUnavailable = 6

func main() {
	err := serve()
	if err == nil {
		return
	}
	fmt.Fprintln(os.Stderr, "crashtest:", err)
	if code := rota.CodeOf(err); code == rota.Busy || code == rota.Unavailable {
		os.Exit(exitUnavailable)
	}
	os.Exit(1)
}

func serve() error {
	config, err := node.Load("", os.Getenv)
	if err != nil {
		return err
	}
	ledgerFile, err := openLedger(os.Getenv(envLedger))
	if err != nil {
		return err
	}
	kill, err := newKiller(os.Getenv(envKill))
	if err != nil {
		return err
	}
	stale, err := newStaleWorker(os.Getenv(envStaleWorker), ledgerFile)
	if err != nil {
		return err
	}
	if os.Getenv(envParent) != "" {
		go followParent()
	}
	config.Logger = config.NewLogger(os.Stderr)
	config.ClockOffsetFile = os.Getenv(envClock)
	config.Retention = &rota.Retention{} // the audit wants all of it
	config.Register = func(reg *engine.Registry) { register(reg, ledgerFile, kill) }
	config.Wrap = func(store rota.Store) rota.Store {
		kill.reached("start", "opened")
		stale.store = kill.wrap(store)
		return stale.store
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	n, err := node.Open(ctx, config)
	if err != nil {
		return err
	}
	obeySignals(n, kill, stop)
	go func() {
		<-n.Ready()
		kill.reached("start", "ready")
		fmt.Println("ready", n.Addresses()["http"])
		stale.run(ctx)
	}()
	return n.Run(ctx)
}

// obeySignals stops the node at the first signal and cuts it short at the next,
// as rota serve does.
func obeySignals(n *node.Node, kill *killer, stop func()) {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-signals
		kill.stopping()
		stop()
		<-signals
		n.Cut()
	}()
}

// followParent ends the process when the test that started it is gone.
func followParent() {
	_, _ = io.Copy(io.Discard, os.Stdin)
	die()
}
