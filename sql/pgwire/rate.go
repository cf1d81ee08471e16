package pgwire

import "time"

// checkRate counts a statement, and refuses it if the user has sent too many.
func (c *conn) checkRate() error {
	wait, allowed := c.server.config.Rate.Allow(c.user)
	if allowed {
		return nil
	}
	return errorf(stateRateExceeded, "send fewer statements, or raise user_rate in the configuration",
		"the statements of user %q exceed the limit of this server; the next one is allowed in %v", c.user, wait.Round(time.Millisecond))
}
