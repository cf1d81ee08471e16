package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"sync/atomic"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/rotajobs/rota/node"
)

const serveExample = `  rota serve                                      # in ./rota-data, on 127.0.0.1:7420
  rota serve --data /var/lib/rota --workers 32
  rota serve --http 127.0.0.1:0                   # any free port; DATA/rota.addr says which
  ROTA_WORKERS=4 rota serve --config rota.yaml    # flags beat variables, which beat the file`

// serveFlags are what was typed; node reads what it means.
type serveFlags struct {
	config      string
	clockOffset string
	texts       map[string]*string // by the key of their setting
}

// serveView is what the server says of itself once it is ready.
type serveView struct {
	Version   string `json:"version"`
	HTTP      string `json:"http"`
	SQL       string `json:"sql,omitempty"`
	Data      string `json:"data"`
	TokenFile string `json:"token_file"`
}

func newServeCommand(a *app) *cobra.Command {
	flags := serveFlags{texts: map[string]*string{}}
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Runs the server: store, scheduler, workers and HTTP in one process",
		Long: `Runs everything in one process until it is told to stop. The first SIGINT or SIGTERM lets running jobs end
within the grace, a second one cuts them off and records it, a third ends the process at once. Settings come
from flags, else from variables (ROTA_WORKERS for --workers), else from the file, else from the defaults; the
file knows more of them, such as retention.`,
		Example: serveExample,
		Args:    noArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := refuseClientFlags(cmd); err != nil {
				return err
			}
			setGCPercent()
			return a.serve(cmd.Context(), flags.given(cmd), flags)
		},
	}
	flags.add(cmd)
	return cmd
}

// setGCPercent lets garbage grow to four times of what is in use before it is
// collected, unless GOGC says otherwise: a server's jobs are mostly short-lived
// and what it keeps is small, so an eighth of its speed is had for some megabytes.
func setGCPercent() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
}

func (f *serveFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.SortFlags = false
	for _, s := range node.Settings() {
		if s.Flag() == "" {
			continue
		}
		f.texts[s.Key] = new("")
		flags.StringVar(f.texts[s.Key], s.Flag(), "", fmt.Sprintf("`%s`: %s (%s; default %s)", s.Noun(), s.About, s.Variable(), s.Default()))
		completeFrom(cmd, s.Flag(), serveWords[s.Key])
	}
	flags.StringVar(&f.config, "config", "", "`FILE` with settings (default "+node.DefaultFile+", if it is there)")
	flags.StringVar(&f.clockOffset, "clock-offset-file", "", "for tests only: `FILE` with a duration by which the clock is wrong, read once a second")
	if err := errors.Join(flags.MarkHidden("clock-offset-file"), cmd.MarkFlagFilename("config", "yaml", "yml")); err != nil {
		panic(err) // a flag was not declared: a mistake in this program
	}
}

// serveWords are the values that a shell can offer.
var serveWords = map[string][]string{
	"log_level":  {"debug", "info", "warn", "error"},
	"log_format": {"text", "json"},
}

// given are the flags that were typed.
func (f *serveFlags) given(cmd *cobra.Command) (given []node.Given) {
	for _, s := range node.Settings() {
		if s.Flag() != "" && cmd.Flags().Changed(s.Flag()) {
			given = append(given, node.Given{Key: s.Key, Text: *f.texts[s.Key]})
		}
	}
	return given
}

// refuseClientFlags keeps somebody from believing that a server took them.
func refuseClientFlags(cmd *cobra.Command) error {
	if cmd.Flags().Changed("token") {
		return usagef("put it into the file admin.token of the data directory, mode 600", "serve takes no --token")
	}
	if cmd.Flags().Changed("url") {
		return usagef("say where to listen with --http HOST:PORT", "serve takes no --url")
	}
	return nil
}

func (a *app) serve(ctx context.Context, given []node.Given, flags serveFlags) error {
	config, err := node.Load(flags.config, a.getenv, given...)
	if err != nil {
		return err
	}
	config.Logger, config.Version, config.ClockOffsetFile = config.NewLogger(a.err), buildVersion(), flags.clockOffset
	for _, name := range node.Mistaken(os.Environ()) {
		config.Logger.Warn("a variable changes nothing, since there is no setting of its name", "variable", name)
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var running atomic.Pointer[node.Node]
	defer handleSignals(config.Logger, stop, &running)()
	n, err := node.Open(ctx, config)
	if err != nil {
		if ctx.Err() != nil {
			return nil // it was told to stop before it had begun
		}
		return err
	}
	running.Store(n)
	go func() {
		select {
		case <-n.Ready():
			_ = a.printReady(n, config) // nobody reads it: that is no reason to stop
		case <-ctx.Done():
		}
	}()
	return n.Run(ctx)
}

// handleSignals stops the server at the first signal, without patience at the second, and at the third as it stands.
func handleSignals(logger *slog.Logger, stop func(), running *atomic.Pointer[node.Node]) (ignore func()) {
	signals := make(chan os.Signal, 3)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // it is under nohup
		signal.Notify(signals, syscall.SIGHUP)
	}
	go func() {
		logger.Info("told to stop; a second signal cuts off what runs", "signal", (<-signals).String())
		stop()
		logger.Warn("told to stop again; what runs is cut off, and is retried at the next start", "signal", (<-signals).String())
		if n := running.Load(); n != nil {
			n.Cut()
		}
		logger.Error("told to stop a third time; ending as it stands", "signal", (<-signals).String())
		os.Exit(exitFailed)
	}()
	return func() { signal.Stop(signals) }
}

// printReady says where everything is. The token itself is never printed: what is printed is kept in too many places.
func (a *app) printReady(n *node.Node, config node.Config) error {
	view := serveView{
		Version: buildVersion(), HTTP: "http://" + displayAddress(config.HTTP, n.Addresses()["http"]),
		SQL:  sqlURL(config.SQL, n.Addresses()["sql"]),
		Data: absolute(config.Data), TokenFile: absolute(n.TokenFile()),
	}
	return a.print(view, func(w io.Writer) error {
		where := ""
		if config.Data != node.DefaultData {
			where = " --data " + config.Data
		}
		sql := "none"
		if view.SQL != "" {
			sql = "psql " + view.SQL
		}
		_, err := fmt.Fprintf(w, `Rota %s is ready.

  http    %s
  sql     %s
  data    %s
  token   cat %s

Try     rota%s job create sleep -p for=2s --wait
Look    %s/docs
Stop    Ctrl-C

`, view.Version, view.HTTP, sql, view.Data, view.TokenFile, where, view.HTTP)
		return err
	})
}

// sqlURL is where psql connects to, empty if there is no SQL port.
func sqlURL(wanted, listening string) string {
	if listening == "" {
		return ""
	}
	return "postgres://admin@" + displayAddress(wanted, listening) + "/rota"
}

// displayAddress is the address where the server listens, as it was asked for: a system may call everywhere by another name.
func displayAddress(wanted, listening string) string {
	host, _, err := net.SplitHostPort(wanted)
	_, port, listeningErr := net.SplitHostPort(listening)
	if ip := net.ParseIP(host); err != nil || listeningErr != nil || ip == nil {
		return listening
	}
	return net.JoinHostPort(host, port)
}

func absolute(path string) string {
	if full, err := filepath.Abs(path); err == nil {
		return full
	}
	return path
}
