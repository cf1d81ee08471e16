package pgwire

import (
	"time"

	"github.com/rotajobs/rota/access"
)

const (
	delaysMax         = 512 // refusals that are delayed at the same time
	delayDoublingsMax = 3   // times that the delay is doubled
)

// checkThrottle refuses a login before the exchange if too many logins of this user from this network have failed.
func (c *conn) checkThrottle(user string) error {
	c.attempt = c.server.config.Logins.Attempt(user, c.raw.RemoteAddr().String())
	if c.attempt.Wait > 0 {
		return tooManyLogins(user, c.attempt.Wait)
	}
	c.pause(c.attempt.Delay)
	return nil
}

// beginPasswordCheck refuses to check a proof if too many others have arrived since checkThrottle: the client may have
// prepared many connections.
func (c *conn) beginPasswordCheck(user string) error {
	var wait time.Duration
	if c.passwordCheck, wait = c.server.config.Logins.Begin(user, c.raw.RemoteAddr().String(), c.attempt); wait > 0 {
		return tooManyLogins(user, wait)
	}
	return nil
}

func tooManyLogins(user string, wait time.Duration) error {
	seconds := int((wait + time.Second - 1) / time.Second)
	return fatalf(stateRateExceeded, "wait before the next attempt; logins from other addresses are not affected",
		"too many failed logins for user %q from this address; the next attempt is allowed in %d s", user, seconds)
}

// refuseLogin answers a wrong password. The delay grows with the failures of the user at this network. The connection does not
// count among those that log in meanwhile, so that an attacker with many addresses does not keep others from logging in. If
// too many refusals are delayed, it answers at once: the throttle limits the guesses in any case.
func (c *conn) refuseLogin(user string) error {
	from := c.raw.RemoteAddr().String()
	failed := c.passwordCheck.Failed()
	c.server.config.Logger.Info("SQL login refused: unknown user, or wrong password or token", "user", user, "from", from)
	if told := c.server.config.LoginFailed; told != nil {
		told(user, access.NetworkOf(from))
	}
	c.leavePending()
	select {
	case c.server.delays <- struct{}{}:
		c.pause(c.server.config.GuessDelay << min(failed.Failures-1, delayDoublingsMax))
		<-c.server.delays
	default:
	}
	return fatalf(stateWrongPassword, "", "password authentication failed for user %q", user)
}

// pause waits. A shutdown ends it early.
func (c *conn) pause(d time.Duration) {
	if d <= 0 {
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-c.closing:
	}
}
