package main

import (
	"strings"
	"testing"
)

func TestSkipsAreNamedAndCounted(t *testing.T) {
	var out strings.Builder
	r := &report{out: &out, output: map[string][]string{}, skips: map[string][]string{}}
	r.read(strings.NewReader(`{"Action":"run","Package":"a/b","Test":"TestX"}
{"Action":"output","Package":"a/b","Test":"TestX","Output":"=== RUN   TestX\n"}
{"Action":"output","Package":"a/b","Test":"TestX","Output":"    x_test.go:7: skipped: no controller of processes: none\n"}
{"Action":"output","Package":"a/b","Test":"TestX","Output":"--- SKIP: TestX (0.00s)\n"}
{"Action":"skip","Package":"a/b","Test":"TestX"}
{"Action":"output","Package":"a/b","Test":"TestY","Output":"    x_test.go:9: got 1\n"}
{"Action":"output","Package":"a/b","Test":"TestY","Output":"--- FAIL: TestY (0.00s)\n"}
{"Action":"fail","Package":"a/b","Test":"TestY"}
{"Action":"output","Package":"a/b","Test":"TestZ","Output":"of a test that passes\n"}
{"Action":"pass","Package":"a/b","Test":"TestZ"}
{"Action":"output","Package":"a/b","Output":"PASS\n"}
{"Action":"output","Package":"a/b","Output":"ok  \ta/b\t(cached)\n"}
{"ImportPath":"a/c","Action":"build-output","Output":"c.go:1: syntax error\n"}
not an event
`))
	r.print()
	const want = `    x_test.go:9: got 1
--- FAIL: TestY (0.00s)
ok  	a/b	(cached)
c.go:1: syntax error
not an event

1 tests were skipped:
   1  no controller of processes: none
        b.TestX
`
	if out.String() != want {
		t.Errorf("got\n%s", out.String())
	}
}
