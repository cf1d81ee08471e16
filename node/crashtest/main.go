//go:build unix

// Command crashtest is a Rota server for crash tests. It does what rota serve does.
// In addition its handlers record what they do in a file outside of the data
// directory, it kills itself with SIGKILL at a configured point, and a stale worker
// claims jobs and abandons them. The tests in this package start it, load it over
// HTTP, kill it, and audit what it left.
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

// Environment variables of the tests, in addition to the settings of the server.
const (
	envLedger      = "ROTA_LEDGER"       // file that handlers write to
	envKill        = "ROTA_KILL"         // point of the kill or freeze: verb:before|after:n, or another point of kill.go
	envStaleWorker = "ROTA_STALE_WORKER" // interval and job type of the stale worker: 500ms:ledger
	envClock       = "ROTA_CLOCK"        // file with the offset of the clock
	envParent      = "ROTA_PARENT"       // if set, the server ends when its standard input ends
)

// exitUnavailable is the exit code of rota when the store or the address is unavailable.
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
		go dieWithParent()
	}
	config.Logger = config.NewLogger(os.Stderr)
	config.ClockOffsetFile = os.Getenv(envClock)
	config.Retention = &rota.Retention{} // keep everything for the audit
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
	handleSignals(n, kill, stop)
	go func() {
		<-n.Ready()
		kill.reached("start", "ready")
		fmt.Println("ready", n.Addresses()["http"])
		stale.run(ctx)
	}()
	return n.Run(ctx)
}

// handleSignals stops the node at the first signal and ends the grace period at the
// second, as rota serve does.
func handleSignals(n *node.Node, kill *killer, stop func()) {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-signals
		kill.stopSignal()
		stop()
		<-signals
		n.Cut()
	}()
}

// dieWithParent kills the process when the test that started it has ended: its standard
// input ends then.
func dieWithParent() {
	_, _ = io.Copy(io.Discard, os.Stdin)
	killSelf()
}
