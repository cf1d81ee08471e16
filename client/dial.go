// Package client gives Go programs the queue of a Rota server. Its client is that of package rota, with the server in place
// of a store:
//
//	client, err := apiclient.Dial("http://rota:7420", token)
//	job, err := apiclient.Enqueue(ctx, Summary{User: 7}, rota.Unique("summary:7"))
//
// The code that submits and reads jobs is the same as with an embedded queue: the methods, the options and the error
// codes are the same. Handlers run in package worker in place of an engine, which refuses this client. The server checks params against the schema of their type, as the client does; the actor of the audit is
// that of the token.
//
// A write is sent with an Idempotency-Key. If the connection breaks, the client sends it again, and it takes effect once.
// Handlers in other processes are workers: see package worker.
package client

import (
	"cmp"
	"crypto/tls"
	"net/http"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/apiclient"
	_ "github.com/rotajobs/rota/payload" // registers the checker of payloads, as every store does
)

// Config of a connection. The zero value works.
type Config struct {
	// HTTP sends the requests: set it for a proxy or other limits. Default: a client of its own, which uses the
	// proxy of the environment.
	HTTP *http.Client
	// TLS configures https: RootCAs for a private authority, Certificates for a client that logs in by certificate; then the
	// token may be empty. It cannot be combined with HTTP. Default: the authorities of the system.
	TLS *tls.Config
	// Timeout is how long the server may take to answer one request. Default 30 s. A call can send several requests.
	Timeout time.Duration
}

// Defaults of a client of Dial.
const (
	DefaultTimeout  = 30 * time.Second
	DefaultRetryFor = 5 * time.Second // see rota.WithRetryFor
)

// Dial returns a client for the server at a URL, such as http://127.0.0.1:7420. It does not connect: calls do. The token is
// in the file admin.token of the data directory of the server. A wrong token gives Denied.
//
// While the server does not answer, a call is repeated for DefaultRetryFor, or for the time that rota.WithRetryFor sets,
// and then gives Unavailable. It ends earlier if its context does.
func Dial(url, token string, options ...rota.ClientOption) (*rota.Client, error) {
	return DialWith(url, token, Config{}, options...)
}

// DialWith is Dial with a configuration of the connection.
func DialWith(url, token string, config Config, options ...rota.ClientOption) (*rota.Client, error) {
	address, err := apiclient.CheckAddress(url)
	if err == nil {
		err = apiclient.CheckToken(token, config.TLS)
	}
	if err == nil {
		err = config.checkTLS()
	}
	if err == nil && config.Timeout < 0 {
		err = rota.Invalidf("timeout", "is negative")
	}
	if err != nil {
		return nil, err
	}
	if config.HTTP == nil {
		config.HTTP = apiclient.WithTLS(newHTTPClient(), config.TLS)
	}
	s := newStore(apiclient.Client{HTTP: apiclient.WithoutRedirects(config.HTTP), Address: address, Token: token}, cmp.Or(config.Timeout, DefaultTimeout))
	dialed := rota.New(s, append([]rota.ClientOption{rota.WithRetryFor(DefaultRetryFor)}, options...)...)
	if dialed.Actor() != "" {
		return nil, rota.Invalidf("actor", "is set; the server takes the actor from the token: omit WithActor")
	}
	return dialed, nil
}

func (c *Config) checkTLS() error {
	if c.TLS != nil && c.HTTP != nil {
		return rota.Invalidf("tls", "and HTTP are both set; configure TLS in the transport of HTTP")
	}
	return apiclient.CheckTLS(c.TLS)
}

// connectionsKept is how many idle connections the client keeps, so that as many goroutines share it without connecting
// again for each call.
const connectionsKept = 64

func newHTTPClient() *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = connectionsKept
	return &http.Client{Transport: transport}
}
