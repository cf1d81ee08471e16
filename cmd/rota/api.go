package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/node"
)

const (
	defaultURL  = "http://127.0.0.1:7420"
	defaultData = "./rota-data"
	apiBase     = "/api/v1"

	// answerMax bounds what is kept in memory of one answer: a page of 1,000 jobs with the largest params and then some.
	answerMax = 2 << 30
)

// server is where the commands go, by the global flags. What a flag does not say the environment does, and then the
// data directory of a server on this machine.
type server struct {
	url   string
	token string
	data  string
}

func (s *server) flags(root *cobra.Command) {
	flags := root.PersistentFlags()
	flags.StringVar(&s.url, "url", "", "`URL` of the server (ROTA_URL; else the one of the data directory, or "+defaultURL+")")
	flags.StringVar(&s.token, "token", "", "`TOKEN` to show it (ROTA_TOKEN; else admin.token of the data directory)")
	flags.StringVar(&s.data, "data", "", "data `DIR` of a server on this machine (ROTA_DATA; else data of "+node.DefaultFile+" here, or "+defaultData+")")
	completeFrom(root, "url", nil)
	completeFrom(root, "token", nil)
}

// dataDir is the directory of the server on this machine: where one that is started here would put it.
func (a *app) dataDir() string {
	return firstNonEmpty(a.server.data, a.getenv("ROTA_DATA"), a.configuredData(), defaultData)
}

// configuredData is what the configuration file in the working directory says. One that is wrong is for the server to
// refuse.
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

// address is the server's, without a slash at its end. A server on this machine wrote down where it listens. One that
// was met there and has stopped since is not taken for whoever listens at the default.
func (a *app) address() (string, error) {
	text := firstNonEmpty(a.server.url, a.getenv("ROTA_URL"))
	if text == "" {
		if written := readAddressFile(a.dataDir()); written != "" {
			a.lastAddress = written
		}
		text = firstNonEmpty(a.lastAddress, defaultURL)
	}
	if !strings.Contains(text, "://") {
		text = "http://" + text
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return "", usagef("write it like "+defaultURL, "--url %s is not the address of a server", shortened(text))
	}
	return strings.TrimRight(u.Scheme+"://"+dialableHost(u.Host)+u.Path, "/"), nil
}

// readAddressFile reads rota.addr; one that is not there or makes no sense says nothing.
func readAddressFile(dir string) string {
	text, err := os.ReadFile(filepath.Join(dir, "rota.addr"))
	if err != nil {
		return ""
	}
	var addresses struct {
		HTTP string `json:"http"`
	}
	if json.Unmarshal(text, &addresses) != nil {
		return ""
	}
	return addresses.HTTP
}

// dialableHost turns the address of a server that listens everywhere into one that can be called.
func dialableHost(host string) string {
	name, port, err := net.SplitHostPort(host)
	if ip := net.ParseIP(name); err == nil && ip != nil && ip.IsUnspecified() {
		return net.JoinHostPort("127.0.0.1", port)
	}
	return host
}

func firstNonEmpty(texts ...string) string {
	for _, text := range texts {
		if text != "" {
			return text
		}
	}
	return ""
}

// request is one call of the server.
type request struct {
	method string
	path   string // below the base, each part escaped
	query  url.Values
	body   any // sent as JSON; nil: none
	accept string
	lastID string // of an event stream: the event to go on from
}

// get reads one thing.
func (a *app) get(ctx context.Context, path string, query url.Values) (json.RawMessage, error) {
	return a.call(ctx, request{method: http.MethodGet, path: path, query: query})
}

// post does something.
func (a *app) post(ctx context.Context, path string, body any) (json.RawMessage, error) {
	return a.call(ctx, request{method: http.MethodPost, path: path, body: body})
}

// call sends a request and returns the answer as it came.
func (a *app) call(ctx context.Context, r request) (json.RawMessage, error) {
	response, err := a.open(ctx, r)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(response.Body, answerMax))
	if err != nil {
		return nil, a.connectionError(err, r.method != http.MethodGet)
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

// open sends a request whose answer is a stream. A write carries a key, so that it is safe to send it once more when the
// connection was lost before the answer came.
func (a *app) open(ctx context.Context, r request) (*http.Response, error) {
	address, err := a.address()
	if err != nil {
		return nil, err
	}
	var body []byte
	if r.body != nil {
		if body, err = encode(r.body, ""); err != nil {
			return nil, err
		}
	}
	key := rota.NewID().String()
	response, err := a.sendOnce(ctx, address, r, body, key)
	if err != nil && ctx.Err() == nil && maySendAgain(err) {
		response, err = a.sendOnce(ctx, address, r, body, key)
	}
	if err != nil {
		return nil, a.connectionError(err, r.method != http.MethodGet)
	}
	if response.StatusCode >= 300 {
		defer response.Body.Close()
		return nil, a.refusal(address, response)
	}
	return response, nil
}

func (a *app) sendOnce(ctx context.Context, address string, r request, body []byte, key string) (*http.Response, error) {
	target := address + apiBase + r.path
	if len(r.query) > 0 {
		target += "?" + r.query.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, r.method, target, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	if r.method != http.MethodGet {
		req.Header.Set("Idempotency-Key", key)
	}
	if r.body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	req.Header.Set("Accept", firstNonEmpty(r.accept, "application/json"))
	req.Header.Set("User-Agent", "rota/"+buildVersion())
	if r.lastID != "" {
		req.Header.Set("Last-Event-ID", r.lastID)
	}
	if token, _ := a.authToken(); token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	return a.client().Do(req)
}

// client waits for the head of an answer, not for its end: a log that is followed has none. A redirect is not followed,
// since it would take the token elsewhere.
func (a *app) client() *http.Client {
	if a.http == nil {
		a.http = &http.Client{
			Transport: &http.Transport{
				Proxy:       http.ProxyFromEnvironment,
				DialContext: (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
			},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		}
	}
	return a.http
}

// decode reads an answer into what it should be.
func decode[T any](answer json.RawMessage) (value T, err error) {
	if err := json.Unmarshal(answer, &value); err != nil {
		return value, &exitError{
			code: exitFailed, err: fmt.Errorf("the server's answer is not what this rota expects: %w", err),
			hint: "compare rota version with the server's",
		}
	}
	return value, nil
}

// pathSegment is one part of a path, whatever it holds.
func pathSegment(name string) string { return "/" + url.PathEscape(name) }
