package node

import (
	"context"
	"path/filepath"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/action"
	"github.com/rotajobs/rota/engine"
	"github.com/rotajobs/rota/eventring"
	"github.com/rotajobs/rota/httpapi"
	"github.com/rotajobs/rota/payload"
	"github.com/rotajobs/rota/store/wrap"
)

// Open acquires what a node needs: the data directory, the store, the addresses. It
// starts nothing. A directory or a file that another process holds is Busy; an
// address in use is Unavailable.
func Open(ctx context.Context, config Config) (*Node, error) {
	config = config.withDefaults()
	if err := config.validate(); err != nil {
		return nil, err
	}
	n := &Node{config: config, logger: config.Logger, serving: make(chan struct{}), ready: make(chan struct{}), cut: make(chan struct{})}
	openStore := func() error { return n.openStore(ctx) }
	for _, step := range []func() error{n.openTLS, n.openData, openStore, n.openSecrets, n.openAudit, n.openAccess, n.listen, n.openTraces, n.openEngine, n.openConsole, n.openHTTP, n.openSQL} {
		err := ctx.Err()
		if err == nil {
			err = step()
		}
		if err != nil {
			_ = n.Close()
			return nil, err
		}
	}
	return n, nil
}

// openTLS reads the files of TLS, and refuses ports that need TLS and have none, before anything is changed.
func (n *Node) openTLS() (err error) {
	if n.httpTLS, err = n.config.httpFiles().open(n.logger); err != nil {
		return err
	}
	if n.sqlTLS, err = n.config.sqlFiles().open(n.logger); err != nil {
		return err
	}
	if n.sqlTLS == nil && n.config.SQLTLS == require {
		return n.config.sqlFiles().invalid("_tls", "is require, but no certificate is configured", nil)
	}
	if err := n.config.httpExposure().checkText(n.config.HTTP); err != nil || n.config.SQL == noPort {
		return err
	}
	return n.config.sqlExposure().checkText(n.config.SQL)
}

// openData locks the data directory. From then on no other process uses it.
func (n *Node) openData() (err error) {
	data := n.config.Data
	if err := openData(data, n.logger); err != nil {
		return err
	}
	lock, err := lockData(data)
	if err != nil {
		return err
	}
	n.onClose(lock.release)
	if err := removeAddr(n.path(addrName)); err != nil {
		return err
	}
	if n.scratch, err = emptyScratch(data); err != nil {
		return err
	}
	if err := checkLogs(data); err != nil {
		return err
	}
	if err := seedToken(n.path(tokenName), n.config.AdminToken, n.logger); err != nil {
		return err
	}
	n.token, err = openToken(n.path(tokenName), n.logger)
	return err
}

func (n *Node) openStore(ctx context.Context) error {
	n.clock = n.config.Clock
	if n.config.ClockOffsetFile != "" {
		n.offset = newOffsetClock(n.config.ClockOffsetFile, n.clock, n.logger)
		n.clock = n.offset.now
	}
	opened, err := n.openBackend(ctx)
	if err != nil {
		return err
	}
	n.onClose(opened.Close)
	n.backend, n.metrics = opened, newMetricSet()
	base := opened.Store
	if n.config.Wrap != nil {
		base = n.config.Wrap(base)
	}
	n.monitor = newStoreMonitor(base, n.metrics)
	n.store = wrap.Coalesce(n.monitor)
	n.events = eventring.New(n.store, 0)
	n.onClose(func() error { n.events.Close(); return nil })
	n.events.Subscribe(newEventCounter(n.metrics).countEvents)
	return nil
}

func (n *Node) listen() error {
	listener, err := listen(n.config.HTTP, "--http")
	if err != nil {
		return err
	}
	n.onClose(func() error { _ = listener.Close(); return nil }) // a server that was started has closed it already
	n.listener = listener
	exposed := n.config.httpExposure()
	exposed.warn(listener.Addr(), n.logger)
	if err := exposed.check(listener.Addr()); err != nil { // the name of a host may have got another address
		return err
	}
	return n.listenSQL()
}

func (n *Node) openEngine() error {
	reg := engine.NewRegistry()
	engine.Builtins(reg)
	allow, err := action.ParseAllow(n.config.HTTPAllow)
	if err != nil {
		return err
	}
	commands, err := n.openCommands()
	if err != nil {
		return err
	}
	if err := n.declareExec(context.Background()); err != nil {
		return err
	}
	guard := &action.Guard{Allow: allow}
	action.Register(reg, action.Config{
		Guard: guard, Version: n.config.Version, Clock: n.clock,
		Targets: n.config.Targets, Data: n.config.Data, Store: n.storeFile(), Access: n.access, Commands: commands,
	})
	if n.config.Register != nil {
		n.config.Register(reg)
	}
	if n.traces != nil {
		reg.Use(n.traces.Middleware())
	}
	n.logs = n.openLogs()
	client := rota.New(n.store, rota.WithActor(rota.SystemActor), rota.WithChecker(payload.NewChecker()))
	n.client = rota.New(n.store, rota.WithActor(rota.AdminUser))
	reg.Introduce(n.client)
	reporter, err := n.openReporter()
	if err != nil {
		return err
	}
	n.engine = engine.New(client, reg, engine.Config{
		Workers: n.config.Workers, Name: n.config.Name, Version: n.config.Version, Lease: n.config.Lease,
		CancelGrace: n.config.CancelGrace, ShutdownGrace: n.config.ShutdownGrace,
		Retention: n.config.Retention, PruneEvery: n.config.PruneEvery,
		Logger: n.logger, Logs: n.logs, Clock: n.clock, Events: n.events, Reporter: reporter, Membership: n.backend.membership, ClockSkew: n.backend.skew,
		SignAnchor: n.audit.signAnchor, Secrets: n.vault,
	})
	n.openDeliveryEngine(client, guard)
	n.metrics.registry.MustRegister(&gauges{
		store: n.store, pool: n.engine.Snapshot, version: n.config.Version,
		size: n.backend.size, events: n.events.Local,
		leader: n.engine.Leads, nodes: n.engine.Nodes, layoutLag: n.backend.layoutLag,
	})
	return nil
}

// path is the path of a file in the data directory.
func (n *Node) path(name string) string { return filepath.Join(n.config.Data, name) }

// Addresses returns the addresses the node listens on, by interface: http, sql.
func (n *Node) Addresses() map[string]string {
	addresses := map[string]string{"http": n.listener.Addr().String()}
	if n.sqlListener != nil {
		addresses["sql"] = n.sqlListener.Addr().String()
	}
	return addresses
}

// address is the content of the address file.
func (n *Node) address() addressFile {
	a := addressFile{HTTP: n.listener.Addr().String(), SQL: n.Addresses()["sql"]}
	if n.httpTLS != nil {
		a.HTTPS, a.HTTPCert = true, absolutePath(n.config.HTTPCert)
	}
	return a
}

// Scheme is the scheme of the URLs of the API: http or https.
func (n *Node) Scheme() string {
	if n.httpTLS != nil {
		return "https"
	}
	return "http"
}

// TokenFile is the file that holds the token of the API.
func (n *Node) TokenFile() string { return n.path(tokenName) }

// deliverySuffix is appended to the worker's name to name the delivery engine. A
// separate name keeps its runs apart from those of the worker at recovery.
const deliverySuffix = "/webhooks"

// deliveryGrace is how long deliveries may continue when the node stops. It is
// short, because the next start repeats them: a receiver that hangs must not delay
// the stop of a node that is otherwise idle.
const deliveryGrace = 2 * time.Second

// openDeliveryEngine creates the engine that delivers webhooks. It has workers of
// its own, so that slow receivers delay no job and slow jobs delay no webhook.
func (n *Node) openDeliveryEngine(client *rota.Client, guard *action.Guard) {
	reg := engine.NewRegistry()
	n.sender = action.NewSender(action.SenderConfig{Guard: guard, Version: n.config.Version, Clock: n.clock})
	action.Deliveries(reg, action.WebhookConfig{Store: n.store, Sender: n.sender, Compose: httpapi.ComposeWebhook(n.store), Open: n.vault.OpenWebhook})
	n.deliveryEngine = engine.New(client, reg, engine.Config{
		Workers: n.config.WebhookWorkers, Name: n.config.Name + deliverySuffix, WorkOnly: true,
		Lease: n.config.Lease, CancelGrace: n.config.CancelGrace, ShutdownGrace: min(n.config.ShutdownGrace, deliveryGrace),
		Logger: n.logger, Logs: unpruned{n.logs}, Clock: n.clock, Events: n.events,
	})
}
