package access

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

// testClock is a clock that a test sets.
type testClock struct{ now time.Time }

func newTestClock() *testClock               { return &testClock{time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)} }
func (c *testClock) read() time.Time         { return c.now }
func (c *testClock) advance(d time.Duration) { c.now = c.now.Add(d) }
func newTestThrottle() (*LoginThrottle, *testClock) {
	c := newTestClock()
	return NewLoginThrottle(c.read), c
}
func address(n int) string { return fmt.Sprintf("10.%d.%d.%d:4711", n>>16&255, n>>8&255, n&255) }

func TestBruteForceFromManyAddressesLocksNobodyOut(t *testing.T) {
	g, _ := newTestThrottle()
	for n := range 1000 {
		for range 50 {
			g.Failed("bob", address(n))
		}
	}
	for user, from := range map[string]string{"bob": "192.0.2.7:1", "eve": "192.0.2.7:1", "alice": address(5)} {
		if wait := g.Attempt(user, from).Wait; wait != 0 {
			t.Errorf("%s has to wait %v at %s", user, wait, from)
		}
	}
	if g.Attempt("bob", address(5)).Wait == 0 {
		t.Error("an attacker need not wait")
	}
	if first := g.Failed("bob", "192.0.2.7:1"); first != (FailedLogin{Failures: 1}) {
		t.Errorf("a typing error of bob at his own address counts as %+v", first)
	}
}

func TestFailuresOfOnePairAreForgivenOneByOne(t *testing.T) {
	g, clock := newTestThrottle()
	for n := range pairBurst {
		if got := g.Failed("bob", "192.0.2.7:1"); got != (FailedLogin{Failures: n + 1}) {
			t.Errorf("failure %d is %+v", n+1, got)
		}
	}
	clock.advance(pairEvery)
	if wait := g.Attempt("bob", "192.0.2.7:9").Wait; wait != 0 {
		t.Errorf("bob has to wait %v after a failure is forgiven", wait)
	}
	g.Failed("bob", "192.0.2.7:1")
	if wait := g.Attempt("bob", "192.0.2.7:1").Wait; wait != pairEvery {
		t.Errorf("bob has to wait %v", wait)
	}
	clock.advance(time.Hour)
	if got := g.Failed("bob", "192.0.2.7:1"); got.Failures != 1 {
		t.Errorf("after an hour: %+v", got)
	}
}

func TestManyGuessesAtOnceWaitAtMostOneMinute(t *testing.T) {
	g, clock := newTestThrottle()
	for range 10_000 {
		g.Failed("bob", "192.0.2.7:1")
	}
	if wait := g.Attempt("bob", "192.0.2.7:1").Wait; wait < loginDebtMax || wait > loginDebtMax+pairEvery {
		t.Errorf("bob has to wait %v", wait)
	}
	clock.advance(-24 * time.Hour) // the clock of the machine is set back
	if wait := g.Attempt("bob", "192.0.2.7:1").Wait; wait > loginDebtMax+pairEvery {
		t.Errorf("bob has to wait %v after the clock was set back", wait)
	}
}

func TestOneAddressTriesManyUsersOnlySlowly(t *testing.T) {
	g, _ := newTestThrottle()
	atOnce := 0
	for n := range 10_000 {
		user := fmt.Sprintf("user%d", n)
		if g.Attempt(user, "192.0.2.7:1") == (Attempt{}) {
			atOnce++
		}
		g.Failed(user, "192.0.2.7:1")
	}
	if atOnce != networkBurst {
		t.Errorf("one address tried %d users without a delay", atOnce)
	}
	if got := g.Attempt("user1", "192.0.2.8:1"); got != (Attempt{}) {
		t.Errorf("another address: %+v", got)
	}
}

// An attacker behind a shared address cannot keep the others there from logging in: each user has a few attempts.
func TestNetworkWithoutBudgetChecksFewAttemptsOfEachUser(t *testing.T) {
	g, clock := newTestThrottle()
	for n := range 10_000 {
		g.Failed(fmt.Sprintf("user%d", n), "192.0.2.7:1")
	}
	for n := range lateBurst {
		if got := g.Attempt("carol", "192.0.2.7:1"); got != (Attempt{Delay: lateDelay}) {
			t.Errorf("attempt %d of carol: %+v", n, got)
		}
	}
	if got := g.Attempt("carol", "192.0.2.7:1"); got.Wait <= 0 || got.Wait > lateEvery {
		t.Errorf("carol may guess at any rate: %+v", got)
	}
	if got := g.Attempt("bob", "192.0.2.7:1"); got != (Attempt{Delay: lateDelay}) {
		t.Errorf("carol slows down bob: %+v", got)
	}
	clock.advance(10 * time.Minute)
	if got := g.Attempt("carol", "192.0.2.7:1"); got != (Attempt{}) {
		t.Errorf("after the attack: %+v", got)
	}
}

// Wrong tokens say nothing about passwords.
func TestWrongTokensDoNotSlowDownPasswords(t *testing.T) {
	g, _ := newTestThrottle()
	for n := range 10_000 {
		g.Failed(fmt.Sprintf("rota_%d", n), "192.0.2.7:1")
		g.Failed(rota.AdminUser, "192.0.2.7:1")
	}
	if got := g.Attempt("carol", "192.0.2.7:1"); got != (Attempt{}) {
		t.Errorf("%+v", got)
	}
	if g.Failed(rota.AdminUser, "192.0.2.7:1").Wait == 0 {
		t.Error("a client that repeats a wrong token is not asked to wait")
	}
}

func TestSecretsOfTokensNeverWait(t *testing.T) {
	g, _ := newTestThrottle()
	for range 1000 {
		g.Failed(rota.AdminUser, "192.0.2.7:1")
		g.Failed("rota_k3y", "192.0.2.7:1")
	}
	if g.Attempt(rota.AdminUser, "192.0.2.7:1").Wait != 0 || g.Attempt("rota_k3y", "192.0.2.7:1").Wait != 0 {
		t.Error("an attacker behind the same address locks out the admin or a token")
	}
}

// An attacker behind one address cannot fill the table of pairs; one with many needs a failure from each.
func TestThrottleForgetsNothingCheaply(t *testing.T) {
	g, _ := newTestThrottle()
	for range 2 * pairBurst {
		g.Failed("bob", "192.0.2.7:1")
	}
	for n := range 10 * throttledMax {
		g.Failed(fmt.Sprintf("user%d", n), "192.0.2.9:1")
	}
	for n := range throttledMax - networkBurst - 1 {
		g.Failed("eve", address(n))
	}
	if g.Attempt("bob", "192.0.2.7:1").Wait == 0 {
		t.Error("failures at other addresses made the throttle forget those of bob")
	}
}

func TestMemoryOfThrottleIsBounded(t *testing.T) {
	g, _ := newTestThrottle()
	long := strings.Repeat("x", 1<<16)
	for n := range 5 * throttledMax {
		g.Failed(long[n&0xff:n&0xff+8], address(n))
	}
	g.Failed(long, "192.0.2.7:1")
	for name, b := range map[string]*budgets{"pairs": g.pairs, "networks": g.networks} {
		if len(b.keys) != throttledMax || b.order.Len() != throttledMax {
			t.Errorf("the throttle keeps %d and %d %s", len(b.keys), b.order.Len(), name)
		}
	}
}

func TestNetworkOfAddress(t *testing.T) {
	for address, want := range map[string]string{
		"192.0.2.7:80": "192.0.2.7", "192.0.2.7": "192.0.2.7", "[::ffff:192.0.2.7]:80": "192.0.2.7",
		"[2001:db8::1]:80": "2001:db8::/64", "[2001:db8::ffff:1]:1": "2001:db8::/64", "[2001:db8:0:1::1]:80": "2001:db8:0:1::/64",
		"[fe80::1%eth0]:80": "fe80::/64", "@": "@", "": "",
	} {
		if got := NetworkOf(address); got != want {
			t.Errorf("%s is of %q, want %q", address, got, want)
		}
	}
}

func TestRateLimiterCountsPrincipalsSeparately(t *testing.T) {
	clock := newTestClock()
	l := NewRateLimiter(rota.Rate{Count: 3, Per: time.Second}, clock.read)
	for range 3 {
		if _, allowed := l.Allow("bob"); !allowed {
			t.Error("bob is limited too early")
		}
	}
	if wait, allowed := l.Allow("bob"); allowed || wait != time.Second/3 {
		t.Errorf("bob may send a fourth request: %v, %v", wait, allowed)
	}
	if _, allowed := l.Allow("eve"); !allowed {
		t.Error("eve is limited by the requests of bob")
	}
	clock.advance(time.Second / 3)
	if _, allowed := l.Allow("bob"); !allowed {
		t.Error("bob gets no request back")
	}
	l.Count("bob")
	l.Count("bob")
	if wait, allowed := l.Allow("bob"); allowed || wait.Round(time.Millisecond) != time.Second {
		t.Errorf("what cannot be refused does not count: %v, %v", wait, allowed)
	}
	if _, allowed := (*RateLimiter)(nil).Allow("bob"); !allowed {
		t.Error("no limiter is a limit")
	}
	for n := range 3 * limitedMax {
		l.Allow(fmt.Sprint(n))
	}
	if len(l.names.keys) != limitedMax {
		t.Errorf("the limiter keeps %d names", len(l.names.keys))
	}
}

// FuzzLoginThrottle checks that a wait is never longer than the limit, and that one network never slows another.
func FuzzLoginThrottle(f *testing.F) {
	f.Add("bob", "192.0.2.7:1", uint8(20), int64(5))
	f.Add("", "[2001:db8::1%x]:", uint8(255), int64(-1<<62))
	f.Fuzz(func(t *testing.T, user, from string, failures uint8, seconds int64) {
		g, clock := newTestThrottle()
		for range failures {
			if got := g.Failed(user, from); got.Failures < 1 || got.Wait < 0 || got.Wait > loginDebtMax+pairEvery {
				t.Fatalf("%+v", got)
			}
		}
		const other = "198.51.100.1:1"
		if NetworkOf(from) != NetworkOf(other) && (g.Attempt(user, other).Wait != 0 || g.Failed(user, other).Failures != 1) {
			t.Errorf("failures at %q slow down %s", from, other)
		}
		clock.advance(time.Duration(seconds))
		if wait := g.Attempt(user, from).Wait; wait < 0 || wait > loginDebtMax+pairEvery {
			t.Errorf("the wait is %v", wait)
		}
	})
}

// A client that opens many connections, and sends a password on each when all are open, has no more guesses.
func TestManyHeldConnectionsHaveTheGuessesOfOne(t *testing.T) {
	g, _ := newTestThrottle()
	const held = 240
	for range held {
		if got := g.Attempt("bob", "192.0.2.7:1"); got != (Attempt{}) {
			t.Fatalf("a connection is refused before any guess: %+v", got)
		}
	}
	checked := 0
	for range held {
		check, wait := g.Begin("bob", "192.0.2.7:1", Attempt{})
		if wait == 0 {
			check.Failed()
			checked++
		}
	}
	if checked != pairBurst {
		t.Errorf("%d passwords were checked, want %d", checked, pairBurst)
	}
}

func TestRightPasswordsAreNotCounted(t *testing.T) {
	g, _ := newTestThrottle()
	for n := range 10 * networkBurst {
		check, wait := g.Begin("bob", "192.0.2.7:1", g.Attempt("bob", "192.0.2.7:1"))
		if wait > 0 {
			t.Fatalf("login %d has to wait %v", n, wait)
		}
		check.Succeeded()
	}
	check, _ := g.Begin("bob", "192.0.2.7:1", Attempt{})
	if got := check.Failed(); got.Failures != 1 || got.Wait != 0 {
		t.Errorf("the first wrong password: %+v", got)
	}
}

func TestDelayedAttemptIsCountedOnce(t *testing.T) {
	g, _ := newTestThrottle()
	for n := range 2 * networkBurst {
		g.Failed(fmt.Sprintf("user%d", n), "192.0.2.7:1")
	}
	for n := range lateBurst {
		allowed := g.Attempt("carol", "192.0.2.7:1")
		if _, wait := g.Begin("carol", "192.0.2.7:1", allowed); allowed.Delay == 0 || wait > 0 {
			t.Errorf("attempt %d: %+v, then a wait of %v", n, allowed, wait)
		}
	}
	if _, wait := g.Begin("carol", "192.0.2.7:1", Attempt{}); wait == 0 {
		t.Error("a connection that was open before has a further guess")
	}
}
