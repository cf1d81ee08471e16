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
  rota serve --http 127.0.0.1:0                   # any free port; DATA/rota.addr has the address
  ROTA_WORKERS=4 rota serve --config rota.yaml    # flags override variables, variables override the file`

// serveFlags holds the texts of the flags; package node parses them.
type serveFlags struct {
	config      string
	clockOffset string
	allowLinks  bool
	allowMoved  bool
	forget      bool
	texts       map[string]*string // by the key of the setting
}

// serveView is the output as JSON and YAML when the server is ready.
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
		Short: "Run the server: store, scheduler, workers and HTTP API in one process",
		Long: `Run the server until a signal stops it. After the first SIGINT or SIGTERM running jobs may finish within the grace
period. A second signal cancels them and records that. A third one ends the process at once. Settings come
from flags, then from variables (ROTA_WORKERS for --workers), then from the file, then from the defaults.
Some settings, such as retention, can only be set in the file or by a variable.`,
		Example: serveExample,
		Args:    noArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := refuseClientFlags(cmd); err != nil {
				return err
			}
			setGCPercent()
			return a.serve(cmd.Context(), flags.flagValues(cmd), flags)
		},
	}
	flags.add(cmd)
	return cmd
}

// setGCPercent lets the heap grow to five times the live memory before a collection, unless GOGC is set. A server keeps
// little memory alive, so that a few megabytes make it about an eighth faster.
func setGCPercent() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
}

// setMemoryLimit lets the garbage collector work harder before the process grows beyond the limit, unless GOMEMLIMIT is
// set. The limit is one of the whole process, so that only the program sets it, and no library.
func setMemoryLimit(config node.Config) {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(config.GoMemoryLimit())
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
		flags.Var(textFlag(f.texts[s.Key], s.Noun()), s.Flag(), fmt.Sprintf("%s (%s; default %s)", s.About, s.Variable(), s.Default()))
		if s.IsSwitch() { // --insecure is --insecure=true
			flags.Lookup(s.Flag()).NoOptDefVal = "true"
		}
		if words := serveWords[s.Key]; words != nil {
			completeFrom(cmd, s.Flag(), words)
		}
	}
	flags.StringVar(&f.config, "config", "", "`FILE` with settings (default: "+node.DefaultFile+" if it exists)")
	flags.BoolVar(&f.allowLinks, "allow-links", false, "write to an SQLite store even if its file has a second name (a hard link)")
	flags.BoolVar(&f.allowMoved, "allow-moved", false, "start with a store that rota copy has moved to another one")
	flags.BoolVar(&f.forget, "forget-secrets", false, "delete the secrets, of webhooks too, whose key is not in master.key: for a store whose key is lost")
	flags.StringVar(&f.clockOffset, "clock-offset-file", "", "for tests only: `FILE` with an offset of the clock, read once a second")
	if err := errors.Join(flags.MarkHidden("clock-offset-file"), cmd.MarkFlagFilename("config", "yaml", "yml")); err != nil {
		panic(err) // a flag is not declared: a bug in this program
	}
}

// serveWords are the values for shell completion.
var serveWords = map[string][]string{
	"log_level":  {"debug", "info", "warn", "error"},
	"log_format": {"text", "json"},

	"sql_tls": {"allow", "require"}, "http_client_cert": {"allow", "require"}, "sql_client_cert": {"allow", "require"},
}

// flagValues returns the values of the flags that the user gave.
func (f *serveFlags) flagValues(cmd *cobra.Command) (values []node.FlagValue) {
	for _, s := range node.Settings() {
		if s.Flag() != "" && cmd.Flags().Changed(s.Flag()) {
			values = append(values, node.FlagValue{Key: s.Key, Text: *f.texts[s.Key]})
		}
	}
	return values
}

// refuseClientFlags refuses global flags that have no effect on a server.
func refuseClientFlags(cmd *cobra.Command) error {
	if cmd.Flags().Changed("token") {
		return usagef("write it to the file admin.token of the data directory, mode 600", "serve takes no --token")
	}
	for name, instead := range map[string]string{"ca": "http-client-ca", "client-cert": "http-cert", "client-key": "http-key"} {
		if cmd.Flags().Changed(name) {
			return usagef("for the files of the server use --"+instead, "serve takes no --%s", name)
		}
	}
	if cmd.Flags().Changed("url") {
		return usagef("set the address to listen on with --http HOST:PORT", "serve takes no --url")
	}
	return nil
}

func (a *app) serve(ctx context.Context, flagValues []node.FlagValue, flags serveFlags) error {
	config, err := node.Load(flags.config, a.getenv, flagValues...)
	if err != nil {
		return err
	}
	config.Logger, config.Version, config.ClockOffsetFile = config.NewLogger(a.err), buildVersion(), flags.clockOffset
	config.AllowLinks = flags.allowLinks
	setMemoryLimit(config)
	config.AllowMoved, config.ForgetSecrets = flags.allowMoved, flags.forget
	for _, name := range node.MisspelledVariables(os.Environ()) {
		config.Logger.Warn("unknown environment variable: there is no setting of this name", "variable", name)
	}
	if err := withholdMemory(); err != nil {
		config.Logger.Warn("a core dump of this process may contain secrets: it could not be prevented", "error", err)
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var running atomic.Pointer[node.Node]
	defer handleSignals(config.Logger, stop, &running)()
	n, err := node.Open(ctx, config)
	if err != nil {
		if ctx.Err() != nil {
			return nil // a signal stopped the server during its start
		}
		return err
	}
	running.Store(n)
	go func() {
		select {
		case <-n.Ready():
			a.notify(config.Logger, "READY=1")
			_ = a.printReady(n, config) // a closed standard output must not stop the server
		case <-ctx.Done():
		}
		<-ctx.Done()
		a.notify(config.Logger, "STOPPING=1")
	}()
	return n.Run(ctx)
}

// notify tells systemd about the state of the server. Without the message systemd would end the start at its timeout.
func (a *app) notify(logger *slog.Logger, state string) {
	if err := notifySystemd(a.getenv("NOTIFY_SOCKET"), state); err != nil {
		logger.Warn("systemd could not be notified", "state", state, "error", err)
	}
}

// handleSignals stops the server: the first signal lets jobs finish, the second cancels them, the third exits at once.
func handleSignals(logger *slog.Logger, stop func(), running *atomic.Pointer[node.Node]) (ignore func()) {
	signals := make(chan os.Signal, 3)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // not under nohup
		signal.Notify(signals, syscall.SIGHUP)
	}
	go func() {
		logger.Info("stopping; a second signal cancels running jobs", "signal", (<-signals).String())
		stop()
		logger.Warn("second signal: cancelling running jobs, which are retried at the next start", "signal", (<-signals).String())
		if n := running.Load(); n != nil {
			n.Cut()
		}
		logger.Error("third signal: exiting at once", "signal", (<-signals).String())
		os.Exit(exitFailed)
	}()
	return func() { signal.Stop(signals) }
}

// printReady prints the addresses and paths. It does not print the token, since output often ends in log files.
func (a *app) printReady(n *node.Node, config node.Config) error {
	view := serveView{
		Version: buildVersion(), HTTP: n.Scheme() + "://" + displayAddress(config.HTTP, n.Addresses()["http"]),
		SQL:  sqlURL(config.SQL, n.Addresses()["sql"]),
		Data: absolute(config.Data), TokenFile: absolute(n.TokenFile()),
	}
	return a.print(view, func(w io.Writer) {
		where := ""
		if config.Data != node.DefaultData {
			where = " --data " + config.Data
		}
		sql := "none"
		if view.SQL != "" {
			sql = "psql " + view.SQL + movedPort(config.SQL, n.Addresses()["sql"])
		}
		fmt.Fprintf(w, `Rota %s is ready.

  http    %s
  sql     %s
  data    %s
  token   cat %s

Try     rota%s job create sleep -p for=2s --wait
Look    %s/docs
Stop    Ctrl-C

`, view.Version, view.HTTP, sql, view.Data, view.TokenFile, where, view.HTTP)
	})
}

// movedPort says that the SQL port is not the configured one, because another program listens there.
func movedPort(wanted, listening string) string {
	_, port, err := net.SplitHostPort(wanted)
	_, other, _ := net.SplitHostPort(listening)
	if err != nil || port == "0" || port == other {
		return ""
	}
	return fmt.Sprintf("\n          (another program listens on port %s; choose a port with --sql HOST:PORT)", port)
}

// sqlURL is the URL for psql; empty without a SQL port.
func sqlURL(wanted, listening string) string {
	if listening == "" {
		return ""
	}
	return "postgres://admin@" + displayAddress(wanted, listening) + "/rota"
}

// displayAddress is the configured host with the port that the server listens on. The listener may report another form
// of an unspecified host.
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
