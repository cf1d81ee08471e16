package action

import (
	"os"
	"testing"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/action/mariatest"
	"github.com/rotajobs/rota/store/postgres/pgtest"
)

// TestMain removes the backoff of deliveries, so that the tests need not wait for retries.
func TestMain(m *testing.M) {
	rota.DeliveryPolicy.Backoff = 0
	if path := os.Getenv(envChildStore); path != "" {
		runUntilKilled(path)
	}
	defer mariatest.Close()
	pgtest.Main(m)
}
