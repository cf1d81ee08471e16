package pgwire

import (
	"context"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/rotajobs/rota/sql/session"
)

// reportedParameters are the settings whose changes are reported to clients, with the values
// used if the session has none.
var reportedParameters = []struct{ name, value string }{
	{"application_name", ""},
	{"client_encoding", "UTF8"},
	{"DateStyle", "ISO, MDY"},
	{"default_transaction_read_only", "off"},
	{"in_hot_standby", "off"},
	{"integer_datetimes", "on"},
	{"IntervalStyle", "postgres"},
	{"is_superuser", "on"},
	{"server_encoding", "UTF8"},
	{"standard_conforming_strings", "on"},
	{"TimeZone", "UTC"},
}

// sendParameters sends the constant parameters of the connection, and then the others.
func (c *conn) sendParameters(user string) {
	c.out.send(&pgproto3.ParameterStatus{Name: "server_version", Value: "15.0 (Rota " + c.server.config.Version + ")"})
	c.out.send(&pgproto3.ParameterStatus{Name: "session_authorization", Value: user})
	c.sendChangedParameters()
}

// sendChangedParameters sends the settings that changed since they were last sent.
func (c *conn) sendChangedParameters() {
	for _, one := range reportedParameters {
		value, known := c.session.Setting(one.name)
		if !known {
			value = one.value
		}
		if was, sent := c.sentParameters[one.name]; sent && was == value {
			continue
		}
		c.sentParameters[one.name] = value
		c.out.send(&pgproto3.ParameterStatus{Name: one.name, Value: cutAtNUL(value)})
	}
	c.updateTimeZone()
}

// updateTimeZone uses the session's time zone for the following values. Each statement can
// change it; the client is notified before the next ReadyForQuery.
func (c *conn) updateTimeZone() {
	if name, _ := c.session.Setting("TimeZone"); name != c.settings.zoneName {
		c.settings.zoneName, c.settings.zone = name, loadZone(name)
	}
}

// loadZone returns the named time zone; an unknown one is shown as UTC.
func loadZone(name string) *time.Location {
	if name == "Local" {
		return time.UTC
	}
	if place, err := time.LoadLocation(name); err == nil {
		return place
	}
	return time.UTC
}

// ready sends ReadyForQuery and flushes all answers.
func (c *conn) ready() {
	c.sendChangedParameters()
	status := c.session.Status()
	if status == session.Idle {
		c.prepared.closePortals(nil)
	}
	c.out.send(&pgproto3.ReadyForQuery{TxStatus: byte(status)})
	c.out.flush()
}

// startStatement returns the context of one statement. It ends when the client cancels or
// disconnects, or at the statement timeout. The caller must call the returned function at the
// end.
func (c *conn) startStatement() (context.Context, context.CancelFunc) {
	ctx, end := context.WithCancelCause(c.ctx)
	stop := func() {}
	if limit := c.milliseconds("statement_timeout"); limit > 0 {
		ctx, stop = context.WithTimeoutCause(ctx, limit, errTimeout)
	}
	c.mu.Lock()
	c.running = end
	c.mu.Unlock()
	return ctx, func() {
		c.mu.Lock()
		c.running = nil
		c.mu.Unlock()
		stop()
		end(nil)
	}
}

// cancel cancels the running statement. Another connection's goroutine calls it.
func (c *conn) cancel() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.running != nil {
		c.running(errCancelled)
	}
}

// milliseconds returns a setting that is a duration; 0 means not set.
func (c *conn) milliseconds(name string) time.Duration {
	text, _ := c.session.Setting(name)
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil || n < 0 {
		return 0
	}
	return time.Duration(n) * time.Millisecond
}
