package access

import (
	"hash/maphash"
	"net"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/rotajobs/rota"
)

// LoginThrottle counts failed logins by user and client network together, and by network over all users. Failures
// slow down further attempts for the same user from the same network only, so that nobody can lock out somebody else. It
// does not know which users exist, and treats all names alike.
//
// A network that has used up its budget may still try each user a few times, after a delay: one client behind a shared
// address must not lock out the others. Wrong tokens are counted apart: nobody guesses a token, so they say nothing about
// passwords.
//
// It remembers a bounded number of pairs. To make it forget one, an attacker needs as many failures from other networks,
// and gains a few guesses: a network that has used up its own budget adds no pairs.
type LoginThrottle struct {
	clock func() time.Time
	seed  maphash.Seed

	mu       sync.Mutex
	pairs    *budgets
	networks *budgets
	late     *budgets // attempts of pairs whose network has used up its budget
	secrets  *budgets // wrong tokens by pair
}

// Budgets of failed logins.
const (
	pairBurst    = 10              // failures of one user from one network that have no consequence
	pairEvery    = 2 * time.Second // how often one is forgiven
	networkBurst = 100             // failures from one network, for all users together
	networkEvery = time.Second
	lateBurst    = 3 // attempts of one user from a network that has used up its budget
	lateEvery    = time.Minute
	lateDelay    = 2 * time.Second // before each of these attempts is checked
	loginDebtMax = time.Minute     // longest wait

	throttledMax = 1 << 14 // pairs, and networks, that are remembered
)

// NewLoginThrottle creates a throttle. It is safe for concurrent use. A nil clock is the wall clock.
func NewLoginThrottle(clock func() time.Time) *LoginThrottle {
	if clock == nil {
		clock = time.Now
	}
	return &LoginThrottle{
		clock: clock, seed: maphash.MakeSeed(),
		pairs:    newBudgets(pairEvery, pairBurst, loginDebtMax, throttledMax),
		networks: newBudgets(networkEvery, networkBurst, loginDebtMax, throttledMax),
		late:     newBudgets(lateEvery, lateBurst, 0, throttledMax),
		secrets:  newBudgets(pairEvery, pairBurst, loginDebtMax, throttledMax),
	}
}

// FailedLogin is what follows from a failed login.
type FailedLogin struct {
	Failures int           // of this user from this network in the last seconds, including this one
	Wait     time.Duration // until the next attempt is in the budget; 0: this one was
}

// Failed counts a failed login. The address may have a port.
func (t *LoginThrottle) Failed(user, address string) FailedLogin {
	pair, network := t.keys(user, address)
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.failed(user, pair, network)
}

func (t *LoginThrottle) failed(user string, pair, network uint64) FailedLogin {
	now := t.clock()
	if isSecret(user) {
		return failedIn(t.secrets, pair, now)
	}
	if t.networks.wait(network, now) == 0 {
		t.networks.use(network, now)
		return failedIn(t.pairs, pair, now)
	}
	t.networks.use(network, now)
	return FailedLogin{Failures: pairBurst, Wait: max(t.pairs.wait(pair, now), t.late.wait(pair, now))}
}

func failedIn(b *budgets, pair uint64, now time.Time) FailedLogin {
	usedUp := b.wait(pair, now) > 0
	failed := FailedLogin{Failures: b.use(pair, now)}
	if usedUp {
		failed.Wait = b.wait(pair, now)
	}
	return failed
}

// Attempt says how to treat an attempt to log in by password.
type Attempt struct {
	Wait  time.Duration // until the next attempt is allowed: refuse this one without checking the password; 0: it is allowed
	Delay time.Duration // wait so long, then check the password
}

// Attempt says how to treat an attempt to log in by password, before the client sends it. The secrets of admin and of
// tokens cannot be guessed, so they never have to wait.
func (t *LoginThrottle) Attempt(user, address string) Attempt {
	if isSecret(user) {
		return Attempt{}
	}
	pair, network := t.keys(user, address)
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.attempt(pair, network)
}

func (t *LoginThrottle) attempt(pair, network uint64) Attempt {
	now := t.clock()
	if wait := t.pairs.wait(pair, now); wait > 0 {
		return Attempt{Wait: wait}
	}
	if t.networks.wait(network, now) == 0 {
		return Attempt{}
	}
	if wait := t.late.wait(pair, now); wait > 0 {
		return Attempt{Wait: wait}
	}
	t.late.use(pair, now)
	return Attempt{Delay: lateDelay}
}

// PasswordCheck is a check of a password that has begun.
type PasswordCheck struct {
	throttle *LoginThrottle
	user     string
	pair     uint64
	network  uint64
	counted  FailedLogin
}

// Begin begins the check of a password that was allowed by an attempt and has arrived. It counts as failed until it has
// succeeded: a client that holds many connections open, and then sends a password on each, has no more guesses than one that
// sends them one after another. With a wait the password must not be checked.
func (t *LoginThrottle) Begin(user, address string, allowed Attempt) (check PasswordCheck, wait time.Duration) {
	check = PasswordCheck{throttle: t, user: user}
	check.pair, check.network = t.keys(user, address)
	if isSecret(user) {
		return check, 0
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if allowed.Delay == 0 { // the other attempts were counted when they were allowed
		if again := t.attempt(check.pair, check.network); again.Wait > 0 {
			return check, again.Wait
		}
	}
	check.counted = t.failed(user, check.pair, check.network)
	return check, 0
}

// Failed reports what follows from a wrong password.
func (c *PasswordCheck) Failed() FailedLogin {
	if !isSecret(c.user) {
		return c.counted
	}
	c.throttle.mu.Lock()
	defer c.throttle.mu.Unlock()
	return c.throttle.failed(c.user, c.pair, c.network)
}

// Succeeded takes back that the check was counted.
func (c *PasswordCheck) Succeeded() {
	if isSecret(c.user) {
		return
	}
	t := c.throttle
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.clock()
	t.pairs.giveBack(c.pair, now)
	t.networks.giveBack(c.network, now)
}

// isSecret reports whether the password of a user is a secret that nobody can guess.
func isSecret(user string) bool {
	return user == rota.AdminUser || strings.HasPrefix(user, rota.TokenPrefix)
}

// keys are hashes, so that long names take no memory.
func (t *LoginThrottle) keys(user, address string) (pair, network uint64) {
	from := NetworkOf(address)
	return maphash.Comparable(t.seed, [2]string{user, from}), maphash.String(t.seed, from)
}

// NetworkOf is what an attacker has to change to count as another client: an IPv4 address, or the first 64 bits of an
// IPv6 address, because one machine has all the others. The address may have a port.
func NetworkOf(address string) string {
	name := address
	if host, _, err := net.SplitHostPort(address); err == nil {
		name = host
	}
	ip, err := netip.ParseAddr(name)
	if err != nil {
		return name
	}
	ip = ip.WithZone("").Unmap()
	if ip.Is4() {
		return ip.String()
	}
	network, _ := ip.Prefix(64)
	return network.String()
}
