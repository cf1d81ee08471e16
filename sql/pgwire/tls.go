package pgwire

import (
	"crypto/tls"
	"crypto/x509"
	"errors"

	"github.com/xdg-go/scram"
)

// offerTLS answers a request for TLS and performs the handshake.
func (c *conn) offerTLS() error {
	offered := c.server.config.TLS
	if offered == nil {
		_, err := c.net.Write([]byte{'N'})
		return err
	}
	if _, err := c.net.Write([]byte{'S'}); err != nil {
		return err
	}
	var used *tls.Certificate
	secured := tls.Server(c.raw, recordingCertificate(offered, &used))
	if err := secured.Handshake(); err != nil {
		return err // the client cannot read an error without TLS
	}
	c.net, c.out.conn, c.secure = secured, secured, true
	c.binding = channelBinding(used)
	return nil
}

// recordingCertificate returns a configuration that stores which certificate the handshake
// used. It disables session resumption, which uses no certificate.
func recordingCertificate(config *tls.Config, used **tls.Certificate) *tls.Config {
	record := func(config *tls.Config) *tls.Config {
		own := config.Clone()
		own.SessionTicketsDisabled = true
		own.GetConfigForClient = nil
		own.GetCertificate = func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
			certificate, err := chooseCertificate(config, hello)
			*used = certificate
			return certificate, err
		}
		own.Certificates = nil
		return own
	}
	own := record(config)
	if getConfig := config.GetConfigForClient; getConfig != nil {
		own.GetConfigForClient = func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
			other, err := getConfig(hello)
			if other == nil || err != nil {
				return nil, err
			}
			return record(other), nil
		}
	}
	return own
}

// chooseCertificate picks the certificate for a client, as crypto/tls does.
func chooseCertificate(config *tls.Config, hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	list := config.Certificates
	if config.GetCertificate != nil && (len(list) == 0 || hello.ServerName != "") {
		if certificate, err := config.GetCertificate(hello); certificate != nil || err != nil {
			return certificate, err
		}
	}
	for i := range list {
		if len(list) == 1 || hello.SupportsCertificate(&list[i]) == nil {
			return &list[i], nil
		}
	}
	if len(list) == 0 {
		return nil, errors.New("no TLS certificate is configured")
	}
	return &list[0], nil
}

// channelBinding binds a login to the certificate, so that a proxy in the middle cannot forward
// it. Channel binding is not defined for some certificates; then it is not supported.
func channelBinding(used *tls.Certificate) (none scram.ChannelBinding) {
	if used == nil || len(used.Certificate) == 0 {
		return none
	}
	leaf, err := x509.ParseCertificate(used.Certificate[0])
	if err != nil {
		return none
	}
	state := &tls.ConnectionState{PeerCertificates: []*x509.Certificate{leaf}}
	binding, err := scram.NewTLSServerEndpointBinding(state)
	if err != nil {
		return none
	}
	return binding
}
