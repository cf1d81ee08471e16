package main

import (
	"cmp"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/apiclient"
)

// httpClient returns the HTTP client. It has no timeout for the body, since a followed log has no end.
func (a *app) httpClient() (*http.Client, error) {
	if a.http != nil {
		return a.http, nil
	}
	config, err := a.tlsConfig()
	if err != nil {
		return nil, err
	}
	a.http = apiclient.WithoutRedirects(&http.Client{Transport: &http.Transport{
		Proxy:             http.ProxyFromEnvironment,
		DialContext:       (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		TLSClientConfig:   config,
		ForceAttemptHTTP2: true,
	}})
	return a.http, nil
}

// tlsFiles are the files of the flags or the environment.
func (a *app) tlsFiles() apiclient.TLSFiles {
	return apiclient.TLSFiles{
		CA:   cmp.Or(a.server.files.CA, a.getenv("ROTA_CA")),
		Cert: cmp.Or(a.server.files.Cert, a.getenv("ROTA_CLIENT_CERT")),
		Key:  cmp.Or(a.server.files.Key, a.getenv("ROTA_CLIENT_KEY")),
	}
}

// tlsConfig is the configuration of TLS; nil: the default of Go. A server whose address was read from its data directory is
// known by the certificate that it has written there. Its certificate need not name 127.0.0.1.
func (a *app) tlsConfig() (*tls.Config, error) {
	files := a.tlsFiles()
	config, err := files.Config()
	var invalid *rota.Error
	if errors.As(err, &invalid) {
		return nil, usagef("name PEM files with --ca, --client-cert and --client-key, or with ROTA_CA, ROTA_CLIENT_CERT and ROTA_CLIENT_KEY",
			"--%s %s", strings.ReplaceAll(invalid.Field, "_", "-"), strings.ReplaceAll(invalid.Reason, "client_", "--client-"))
	}
	if files.CA != "" || cmp.Or(a.server.url, a.getenv("ROTA_URL")) != "" {
		return config, nil
	}
	if written := readAddressFile(a.dataDir()); written.HTTPCert != "" {
		return apiclient.Pin(config, written.HTTPCert), nil
	}
	return config, nil
}

// faultHints are the remedies if the client and the server do not agree on TLS.
var faultHints = map[apiclient.TLSFault]string{
	apiclient.ServerIsPlain:   "use a URL that begins with http://",
	apiclient.ServerIsTLS:     "use a URL that begins with https://",
	apiclient.UnknownCA:       "name the file of its authority with --ca or ROTA_CA",
	apiclient.WrongName:       "use a name or an address that its certificate has",
	apiclient.Expired:         "renew the certificate of the server, and check the clocks of both machines",
	apiclient.CertificateWish: "name your certificate and its key with --client-cert and --client-key",
}
