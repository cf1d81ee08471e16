package pgwire

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/access"
)

func TestStatementsAboveRateAreRefused(t *testing.T) {
	now := time.Now()
	limiter := access.NewRateLimiter(rota.Rate{Count: 3, Per: time.Minute}, func() time.Time { return now })
	s := newTestServer(t, func(c *Config) { c.Rate = limiter })
	conn, err := pgconn.Connect(context.Background(), s.url(""))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	exec := func(text string) string {
		if _, err := conn.Exec(context.Background(), text).ReadAll(); err != nil {
			return codeOf(err)
		}
		return ""
	}
	if code := exec("one") + exec("one; one"); code != "" {
		t.Fatal(code)
	}
	if code := exec("one"); code != "53400" {
		t.Errorf("the fourth statement: %q", code)
	}
	if err := conn.ExecParams(context.Background(), "one", nil, nil, nil, nil).Read().Err; codeOf(err) != "53400" {
		t.Errorf("a prepared statement: %v", err)
	}
	now = now.Add(20 * time.Second)
	if code := exec("one"); code != "" {
		t.Errorf("after a third of the period: %q", code)
	}
}
