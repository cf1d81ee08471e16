package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/apiclient"
	"github.com/rotajobs/rota/node"
)

const (
	defaultURL  = "http://127.0.0.1:7420"
	defaultData = "./rota-data"

	// answerMax is the largest answer in bytes that is read into memory. A page of 1,000 jobs with the largest params
	// fits.
	answerMax = 2 << 30
)

// server holds the global flags that select the server. Without a flag the environment applies, and then the data
// directory of a server on this machine.
type server struct {
	url   string
	token string
	data  string
	files apiclient.TLSFiles
}

func (s *server) flags(root *cobra.Command) {
	flags := root.PersistentFlags()
	flags.Var(textFlag(&s.url, "URL"), "url", "address of the server (ROTA_URL; default: the address in the data directory, or "+defaultURL+")")
	flags.Var(textFlag(&s.token, "TOKEN"), "token", "token to send to the server (ROTA_TOKEN; default: the file admin.token in the data directory)")
	flags.Var(textFlag(&s.files.CA, "FILE"), "ca", "PEM file with the authority of the server's certificate (ROTA_CA; default: the authorities of the system)")
	flags.Var(textFlag(&s.files.Cert, "FILE"), "client-cert", "PEM file with a certificate that logs in instead of a token (ROTA_CLIENT_CERT)")
	flags.Var(textFlag(&s.files.Key, "FILE"), "client-key", "PEM file with the key of that certificate (ROTA_CLIENT_KEY)")
	flags.Var(textFlag(&s.data, "DIR"), "data", "data directory of a server on this machine (ROTA_DATA; default: data in "+node.DefaultFile+", or "+defaultData+")")
}

// dataDir is the data directory of the server on this machine, by the same rules as rota serve.
func (a *app) dataDir() string {
	return cmp.Or(a.server.data, a.getenv("ROTA_DATA"), a.configuredData(), defaultData)
}

// configuredData is the data directory in the configuration file of the working directory. An invalid file is ignored
// here; rota serve reports it.
func (a *app) configuredData() string {
	if a.configDataDir == nil {
		config, err := node.Load("", func(string) string { return "" })
		if err != nil || config.Data == node.DefaultData {
			config.Data = ""
		}
		a.configDataDir = &config.Data
	}
	return *a.configDataDir
}

// address is the address of the server without a trailing slash. A server on this machine writes its address into the
// data directory and removes it when it stops. The last address read stays in use, so that a command that waits for a
// restart does not switch to another server at the default address.
func (a *app) address() (string, error) {
	text := cmp.Or(a.server.url, a.getenv("ROTA_URL"))
	if text == "" {
		if written := readAddressFile(a.dataDir()); written.HTTP != "" {
			a.lastAddress = written.url()
		}
		if a.lastAddress == "" {
			if err := a.checkNamedData(); err != nil {
				return "", err
			}
		}
		text = cmp.Or(a.lastAddress, defaultURL)
	}
	if !strings.Contains(text, "://") {
		text = "http://" + text
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return "", usagef("write it like "+defaultURL, "--url %s is not the URL of a server", shortened(text))
	}
	return strings.TrimRight(u.Scheme+"://"+dialableHost(u.Host)+u.Path, "/"), nil
}

// checkNamedData refuses the default address if the user named a data directory in which no server runs: the server at
// the default address is another one, and must not get the token of the directory.
func (a *app) checkNamedData() error {
	dir := cmp.Or(a.server.data, a.getenv("ROTA_DATA"), a.configuredData())
	if dir == "" {
		return nil
	}
	hint := "start it with rota serve --data " + dir + ", name its data directory with --data, or its address with --url"
	if _, err := os.Stat(dir); os.IsNotExist(err) {
		return failf(exitUnavailable, hint, "there is no directory %s", shortened(dir))
	}
	return failf(exitUnavailable, hint, "no server runs in %s", shortened(dir))
}

// addressFile is the file rota.addr of a data directory.
type addressFile struct {
	HTTP     string `json:"http"`
	HTTPS    bool   `json:"https"`
	HTTPCert string `json:"http_cert"` // file of the server's certificate
}

func (f addressFile) url() string {
	if f.HTTPS {
		return "https://" + f.HTTP
	}
	return "http://" + f.HTTP
}

// readAddressFile reads rota.addr. It is empty if the file is missing or invalid.
func readAddressFile(dir string) (f addressFile) {
	text, err := os.ReadFile(filepath.Join(dir, "rota.addr"))
	if err != nil || json.Unmarshal(text, &f) != nil {
		return addressFile{}
	}
	return f
}

// dialableHost replaces the unspecified address (0.0.0.0 or ::) by the loopback address.
func dialableHost(host string) string {
	name, port, err := net.SplitHostPort(host)
	if ip := net.ParseIP(name); err == nil && ip != nil && ip.IsUnspecified() {
		return net.JoinHostPort("127.0.0.1", port)
	}
	return host
}

func newGet(path string) apiclient.Request {
	return apiclient.Request{Method: http.MethodGet, Path: path}
}

func newPost(path string, body any) apiclient.Request {
	return apiclient.Request{Method: http.MethodPost, Path: path, Body: body}
}

// call sends a request and returns the answer unchanged.
func (a *app) call(ctx context.Context, r apiclient.Request) (json.RawMessage, error) {
	response, err := a.open(ctx, r)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(response.Body, answerMax))
	if err != nil {
		return nil, a.connectionError(err, r.Method != http.MethodGet)
	}
	if len(bytes.TrimSpace(answer)) == 0 {
		return json.RawMessage("null"), nil
	}
	if !json.Valid(answer) {
		address, _ := a.address()
		return nil, notRotaError(address, "its answer is not JSON")
	}
	return answer, nil
}

// fetch sends a request and decodes the answer. It also returns the answer unchanged, for output as JSON.
func fetch[T any](ctx context.Context, a *app, r apiclient.Request) (value T, answer json.RawMessage, err error) {
	if answer, err = a.call(ctx, r); err == nil {
		value, err = decode[T](answer)
	}
	return value, answer, err
}

// open sends a request and returns the response with its open body. A write has an idempotency key, so that it can be
// sent a second time if the connection breaks before the answer.
func (a *app) open(ctx context.Context, r apiclient.Request) (*http.Response, error) {
	address, err := a.address()
	if err != nil {
		return nil, err
	}
	if r.Method != http.MethodGet {
		r.Key = rota.NewID().String()
	}
	token, source := a.authToken()
	if apiclient.UnsendableToken(token) {
		return nil, usagef("write the token alone, on one line", "the token of %s contains a line break or a control character", source)
	}
	client, err := a.httpClient()
	if err != nil {
		return nil, err
	}
	c := apiclient.Client{
		HTTP: client, Address: address, Token: token, Header: http.Header{"User-Agent": {"rota/" + buildVersion()}},
	}
	response, err := c.Send(ctx, r)
	if err != nil && ctx.Err() == nil && maySendAgain(err) {
		response, err = c.Send(ctx, r)
	}
	if err != nil {
		return nil, a.connectionError(err, r.Method != http.MethodGet)
	}
	if response.StatusCode >= 300 {
		defer response.Body.Close()
		return nil, a.refusal(address, response)
	}
	return response, nil
}

// decode decodes an answer.
func decode[T any](answer json.RawMessage) (value T, err error) {
	if err := json.Unmarshal(answer, &value); err != nil {
		return value, failf(exitFailed, "check that rota and the server have the same version: rota version", "cannot decode the answer of the server: %w", err)
	}
	return value, nil
}

// pathSegment is one escaped segment of a path.
func pathSegment(name string) string { return "/" + url.PathEscape(name) }
