package pgwire

import (
	"sync"

	"github.com/rotajobs/rota"
)

// openSessions counts the authenticated connections, so that one user cannot keep others from connecting, and all users
// together cannot keep out the built-in admin.
type openSessions struct {
	max, perUserMax, reserved int

	mu     sync.Mutex
	all    int
	byUser map[string]int
}

func newOpenSessions(config *Config) *openSessions {
	return &openSessions{
		max: config.ConnectionsMax, perUserMax: config.ConnectionsPerUserMax, reserved: config.ConnectionsReserved, byUser: map[string]int{},
	}
}

// add counts a connection. It returns the error for the client if one of the limits is reached.
func (o *openSessions) add(user string) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	isAdmin := user == rota.AdminUser
	switch {
	case o.all >= o.max || !isAdmin && o.all-o.byUser[rota.AdminUser] >= o.max-o.reserved:
		return tooManyConnections()
	case !isAdmin && o.byUser[user] >= o.perUserMax:
		return fatalf(stateTooManyConnections, "close unused connections", "too many connections for user %q: at most %d are allowed", user, o.perUserMax)
	}
	o.all++
	o.byUser[user]++
	return nil
}

// remove ends the count of a connection.
func (o *openSessions) remove(user string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.all--
	if o.byUser[user]--; o.byUser[user] == 0 {
		delete(o.byUser, user)
	}
}

// full reports whether nobody can connect. It is checked before authentication.
func (o *openSessions) full() bool { return o.count() >= o.max }

func (o *openSessions) count() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.all
}

func tooManyConnections() error {
	return fatalf(stateTooManyConnections, "close unused connections, or try again later", "sorry, too many clients already")
}
