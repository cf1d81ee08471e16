package pgwire

import "sync"

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
