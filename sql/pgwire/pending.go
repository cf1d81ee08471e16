package pgwire

import (
	"net"
	"net/netip"
	"sync"
	"time"
)

// pendingConns counts the connections that have not logged in yet, in all and by client address, so that a client
// without a password cannot keep others from connecting.
type pendingConns struct {
	max, perAddressMax int

	mu        sync.Mutex
	all       int
	byAddress map[string]int
}

func newPendingConns(most, perAddress int) *pendingConns {
	return &pendingConns{max: most, perAddressMax: perAddress, byAddress: map[string]int{}}
}

// add counts a connection. It returns the error for the client if one of the limits is reached.
func (p *pendingConns) add(address string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.byAddress[address] >= p.perAddressMax:
		return fatalf(stateTooManyConnections, "wait until logins in progress have ended, then try again",
			"too many connections from this address have not logged in yet: at most %d are allowed", p.perAddressMax)
	case p.all >= p.max:
		return fatalf(stateTooManyConnections, "try again later", "too many connections have not logged in yet: at most %d are allowed", p.max)
	}
	p.all++
	p.byAddress[address]++
	return nil
}

// remove ends the count of a connection that has logged in or is closed.
func (p *pendingConns) remove(address string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all--
	if p.byAddress[address]--; p.byAddress[address] == 0 {
		delete(p.byAddress, address)
	}
}

// addressGroup is what an attacker has to change to count as another client: an IPv4 address, or the first 64 bits of an
// IPv6 address, because one machine has all the others.
func addressGroup(address net.Addr) string {
	name := host(address)
	ip, err := netip.ParseAddr(name)
	if err != nil {
		return name
	}
	ip = ip.WithZone("").Unmap()
	if ip.Is4() {
		return ip.String()
	}
	group, _ := ip.Prefix(64)
	return group.String()
}

const (
	refusalsMax = 64          // refused clients that are answered at the same time
	refusalTime = time.Second // for the startup packet of a refused client
)

// refuse answers a connection above a limit. PostgreSQL's clients show an error only if it follows their startup packet,
// so refuse reads that packet first; a request to cancel a statement is still obeyed. If too many connections are
// refused at once, it sends the error without reading.
func (s *Server) refuse(wire net.Conn, h *connGroup, reason error) {
	select {
	case s.refusals <- struct{}{}:
	default:
		m, _ := response(reason)
		text, _ := m.Encode(nil)
		_ = wire.SetWriteDeadline(time.Now().Add(100 * time.Millisecond))
		_, _ = wire.Write(text)
		_ = wire.Close()
		return
	}
	h.conns.Go(func() {
		defer func() { <-s.refusals }()
		c := newConn(s, wire, h)
		c.refusal = reason
		c.serve()
	})
}

// refuseStartup reads the startup packet of a connection above a limit and returns the error for the client.
func (c *conn) refuseStartup() error {
	_ = c.raw.SetDeadline(time.Now().Add(refusalTime))
	c.out.timeout = min(c.out.timeout, refusalTime)
	if _, err := c.readStartup(); err == errClientDone {
		return err
	}
	_ = c.raw.SetDeadline(time.Now().Add(refusalTime)) // also for a client that sent nothing in time
	return c.refusal
}
