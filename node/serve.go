package node

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
	"github.com/rotajobs/rota/eventring"
	"github.com/rotajobs/rota/httpapi"
)

// ServeConfig configures Serve. The zero value works.
type ServeConfig struct {
	Data string // directory of the address file, the token and the lock; default DefaultData
	HTTP string // address of the API; port 0: any free port; default DefaultHTTP

	// Hosts are names of this server besides localhost, for a proxy on the same machine. Requests
	// with another Host are refused with 421, without Hosts only on connections to a loopback address.
	Hosts []string

	// OnReady is called with the address when the API accepts requests. Nil: no callback.
	OnReady func(address string)

	// API has further settings of the API, such as Logs, Backup and Metrics. Serve sets the
	// store, the engine, the token and the addresses.
	API httpapi.Config

	Logger *slog.Logger // nil: slog.Default
}

// Serve serves the HTTP API of a queue that a program runs itself, until ctx ends. The
// engine may be nil; then direct runs are refused. The command line and remote clients work
// with it as with rota serve:
//
//	go func() { errs <- node.Serve(ctx, client, engine, node.ServeConfig{Data: "app-data"}) }()
//
//	rota --data app-data job list
//
// The data directory gets the files admin.token, rota.addr and rota.lock, which rota serve
// writes too; the store may be elsewhere. A directory that another process holds is Busy, an
// address in use is Unavailable. A program that has its own http.Server uses httpapi.New
// instead.
func Serve(ctx context.Context, client *rota.Client, e *engine.Engine, config ServeConfig) (err error) {
	s := &apiServer{config: config, logger: cmp.Or(config.Logger, slog.Default())}
	s.config.Data = cmp.Or(config.Data, DefaultData)
	if s.config.Hosts, err = cleanHosts(config.Hosts); err != nil {
		return rota.Invalidf("ServeConfig.Hosts", "%v; write names without a port, such as rota.example.org", err)
	}
	if err := openData(s.config.Data, s.logger); err != nil {
		return err
	}
	lock, err := lockData(s.config.Data)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.release()) }()
	return s.run(ctx, client, e)
}

// apiServer serves the API without the other parts of a node.
type apiServer struct {
	config ServeConfig
	logger *slog.Logger
}

func (s *apiServer) path(name string) string { return filepath.Join(s.config.Data, name) }

// run serves the API. The caller holds the lock of the data directory.
func (s *apiServer) run(ctx context.Context, client *rota.Client, e *engine.Engine) error {
	if err := removeAddr(s.path(addrName)); err != nil {
		return err
	}
	token, err := openToken(s.path(tokenName), s.logger)
	if err != nil {
		return err
	}
	listener, err := listen(cmp.Or(s.config.HTTP, DefaultHTTP), "ServeConfig.HTTP")
	if err != nil {
		return err
	}
	defer listener.Close()
	addresses := map[string]string{"http": listener.Addr().String()}
	api := s.config.API
	api.Store, api.Engine, api.Token = client.Store(), e, token
	api.Addresses, api.Logger = func() map[string]string { return addresses }, cmp.Or(api.Logger, s.logger)
	if api.Events == nil {
		events := eventring.New(api.Store, 0)
		defer events.Close()
		api.Events = events
	}
	handler, err := httpapi.New(api)
	if err != nil {
		return err
	}
	requests, cancelRequests := context.WithCancel(context.Background())
	defer cancelRequests()
	server := newHTTPServer(requests, checkHost(handler, s.config.Hosts), s.logger)
	web := startTask(func() error { return server.Serve(listener) })
	if err := writeAddr(s.path(addrName), addresses); err != nil {
		_ = server.Close()
		<-web.done
		return err
	}
	s.logger.Info("serving the API", "http", addresses["http"], "data", s.config.Data)
	if s.config.OnReady != nil {
		s.config.OnReady(addresses["http"])
	}
	select {
	case <-web.done:
		return errors.Join(serverError("http", web.err), removeAddr(s.path(addrName)))
	case <-ctx.Done():
	}
	shutdownHTTP(server, cancelRequests, nil, web)
	return removeAddr(s.path(addrName))
}

// newHTTPServer returns a server with time limits. Its requests end with the context.
func newHTTPServer(requests context.Context, handler http.Handler, logger *slog.Logger) *http.Server {
	return &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: readHeaderMax,
		ReadTimeout:       readMax,
		WriteTimeout:      writeMax,
		IdleTimeout:       idleMax,
		MaxHeaderBytes:    headerMax,
		BaseContext:       func(net.Listener) context.Context { return requests },
		ErrorLog:          slog.NewLogLogger(logger.Handler(), slog.LevelDebug),
	}
}

// shutdownHTTP stops a server: first requests in flight may end, then they are cancelled, at once if cut is closed.
func shutdownHTTP(server *http.Server, cancelRequests func(), cut <-chan struct{}, web *task) {
	ctx, done := context.WithTimeout(context.Background(), closeAfter)
	defer done()
	go func() {
		select {
		case <-time.After(cancelRequestsAfter):
		case <-cut:
		case <-ctx.Done():
		}
		cancelRequests()
	}()
	if err := server.Shutdown(ctx); err != nil {
		_ = server.Close()
	}
	<-web.done
}
