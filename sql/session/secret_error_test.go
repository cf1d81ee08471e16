package session_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/rotajobs/rota/sql/session"
)

// TestErrorAboutASecretHasNoPosition: psql prints the line at the position of an error again.
func TestErrorAboutASecretHasNoPosition(t *testing.T) {
	b := newFixture(t)
	b.run("CREATE JOB n SCHEDULE = EVERY 1 HOUR AS CALL noop()")
	for _, text := range []string{
		"ALTER JOB n SET SECRET 'K' = 'hush' x", "ALTER JOB n SET DISABLED, SECRET 'K' = 'hu'hush'", "ALTER JOB none SET SECRET 'K' = 'hush'",
		"SHOW JOBS; ALTER JOB n SET SECRET 'no key' = 'hush'", "ALTER JOB n SET SECRET 'K' = 'hush", "ALTER JOB n SET SECRET 'K' 'hush'",
		"ALTER JOB n SET SECRETx 'K' = 'hush'", "ALTER JOB n SET SECRT 'K' = 'hush'", "SHOW JOBS; ALTER JOB n SET DISABLED, SECRT 'K' = 'hush'",
		"SET SECRET 'K' = 'hush'", "SET SECRT 'K' = 'hush'", "SHOW JOBS; SET LOCAL SECRETS K = 'hush", "SET SECRET = 'hush'", "SET SECRT = 'hush'",
	} {
		_, err := b.session.Answers(context.Background(), text)
		var e *session.Error
		if !errors.As(err, &e) || e.Position != 0 || strings.Contains(err.Error(), "hush") {
			t.Errorf("%s: %v at %+v", text, err, e)
		}
	}
	if _, err := b.session.Answers(context.Background(), "ALTER JOB n SET x"); !strings.Contains(err.Error(), "line 1, column 17") {
		t.Error(err)
	}
}
