package node

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/access"
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

	// Cert and Key are PEM files: a certificate with its chain, and its key. They are read again when they change. Empty: no
	// TLS. ClientCA is a file with the authorities of client certificates, which log in the users that have their common names; RequireClientCert
	// refuses clients without one.
	Cert, Key, ClientCA string
	RequireClientCert   bool
	Insecure            bool // allow an address that other machines can reach without TLS

	// OnReady is called with the address when the API accepts requests. Nil: no callback.
	OnReady func(address string)

	// API has further settings of the API, such as Logs, Backup, Metrics and Vault, without which secrets cannot be set. Serve sets the
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
	if s.tls, err = s.files().open(s.logger); err != nil {
		return err
	}
	if err := s.exposure().checkText(cmp.Or(config.HTTP, DefaultHTTP)); err != nil {
		return err
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
	tls    *tls.Config // nil: no TLS
}

func (s *apiServer) files() tlsFiles {
	c := Config{HTTPCert: s.config.Cert, HTTPKey: s.config.Key, HTTPClientCA: s.config.ClientCA}
	files := c.httpFiles()
	files.require = s.config.RequireClientCert
	return files
}

func (s *apiServer) exposure() exposure {
	return exposure{port: "http", tls: s.config.Cert != "", insecure: s.config.Insecure}
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
	if err := s.exposure().check(listener.Addr()); err != nil {
		return err
	}
	s.exposure().warn(listener.Addr(), s.logger)
	addresses := map[string]string{"http": listener.Addr().String()}
	api := s.config.API
	api.Store, api.Engine, api.Token = client.Store(), e, token
	api.Addresses, api.Logger = func() map[string]string { return addresses }, cmp.Or(api.Logger, s.logger)
	if api.Events == nil {
		events := eventring.New(api.Store, 0)
		defer events.Close()
		api.Events = events
	}
	api.Access = access.NewDirectory(api.Store, api.Clock)
	defer api.Access.Close()
	handler, err := httpapi.New(api)
	if err != nil {
		return err
	}
	recording, stopRecording := context.WithCancel(context.Background())
	record := startTask(func() error { recordAccess(recording, api.Access, s.logger); return nil })
	defer func() { stopRecording(); <-record.done }()
	requests, cancelRequests := context.WithCancel(context.Background())
	defer cancelRequests()
	server := newHTTPServer(requests, checkHost(handler, s.config.Hosts), s.tls, s.logger)
	web := startTask(func() error { return serveHTTP(server, listener) })
	written := addressFile{HTTP: addresses["http"], HTTPS: s.tls != nil}
	if s.tls != nil {
		written.HTTPCert = absolutePath(s.config.Cert)
	}
	if err := writeAddr(s.path(addrName), written); err != nil {
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
func newHTTPServer(requests context.Context, handler http.Handler, encryption *tls.Config, logger *slog.Logger) *http.Server {
	return &http.Server{
		Handler:           handler,
		TLSConfig:         encryption,
		ReadHeaderTimeout: readHeaderMax,
		ReadTimeout:       readMax,
		WriteTimeout:      writeMax,
		IdleTimeout:       idleMax,
		MaxHeaderBytes:    headerMax,
		BaseContext:       func(net.Listener) context.Context { return requests },
		ErrorLog:          slog.NewLogLogger(logger.Handler(), slog.LevelDebug),
	}
}

// serveHTTP serves with TLS if the server has a configuration of it.
func serveHTTP(server *http.Server, listener net.Listener) error {
	if server.TLSConfig == nil {
		return server.Serve(listener)
	}
	return server.ServeTLS(listener, "", "")
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
