package depth_test

import (
	"flag"
	"testing"

	"github.com/rotajobs/rota/internal/depth"
)

func TestOf(t *testing.T) {
	was := flag.Lookup("test.short").Value.String()
	t.Cleanup(func() { _ = flag.Set("test.short", was) })
	for _, row := range []struct {
		short, deep string
		want        int
	}{{"false", "", 2}, {"true", "", 1}, {"false", "1", 3}, {"true", "1", 3}} {
		t.Setenv(depth.Var, row.deep)
		if err := flag.Set("test.short", row.short); err != nil {
			t.Fatal(err)
		}
		if got := depth.Of(1, 2, 3); got != row.want {
			t.Errorf("-short=%s %s=%q: %d, want %d", row.short, depth.Var, row.deep, got, row.want)
		}
	}
}
