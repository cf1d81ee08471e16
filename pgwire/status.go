package pgwire

import (
	"context"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/rotajobs/rota/console"
)

// reported are the settings that clients are told of when they change, with what
// they are if the session has no opinion.
var reported = []struct{ name, value string }{
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

// fixed tells what stays as it is for the whole connection, and then the rest.
func (c *conn) fixed(user string) {
	c.out.send(&pgproto3.ParameterStatus{Name: "server_version", Value: "15.0 (Rota " + c.server.config.Version + ")"})
	c.out.send(&pgproto3.ParameterStatus{Name: "session_authorization", Value: user})
	c.report()
}

// report tells the settings that have changed since the client was told.
func (c *conn) report() {
	for _, one := range reported {
		value, known := c.session.Setting(one.name)
		if !known {
			value = one.value
		}
		if was, told := c.told[one.name]; told && was == value {
			continue
		}
		c.told[one.name] = value
		c.out.send(&pgproto3.ParameterStatus{Name: one.name, Value: clean(value)})
	}
	c.setClock()
}

// setClock has times shown in the zone of the session. It may be another with each
// statement; the client is told of that later.
func (c *conn) setClock() {
	if name, _ := c.session.Setting("TimeZone"); name != c.values.place {
		c.values.place, c.values.zone = name, zone(name)
	}
}

// zone is the time zone of a name; one that is not known is shown as UTC.
func zone(name string) *time.Location {
	if name == "Local" {
		return time.UTC
	}
	if place, err := time.LoadLocation(name); err == nil {
		return place
	}
	return time.UTC
}

// ready says that the next statement may come, and sends all that was answered.
func (c *conn) ready() {
	c.report()
	status := c.session.Status()
	if status == console.Idle {
		c.names.forgetPortals(nil)
	}
	c.out.send(&pgproto3.ReadyForQuery{TxStatus: byte(status)})
	c.out.flush()
}

// statement is the context of one: it ends when the client cancels it, hangs up,
// or has set a time for it. The function must be called when it is over.
func (c *conn) statement() (context.Context, context.CancelFunc) {
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

// cancel ends the statement that runs. It is called from another connection.
func (c *conn) cancel() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.running != nil {
		c.running(errCancelled)
	}
}

// milliseconds is a setting that is a time; 0: it is not set.
func (c *conn) milliseconds(name string) time.Duration {
	text, _ := c.session.Setting(name)
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil || n < 0 {
		return 0
	}
	return time.Duration(n) * time.Millisecond
}
