package node

import (
	"testing"

	"github.com/rotajobs/rota/store/postgres/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }
