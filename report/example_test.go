package report_test

import (
	"fmt"

	"github.com/rotajobs/rota/report"
)

func ExampleScrub() {
	fmt.Println(string(report.Scrub([]byte(`{"to": "ada@example.org", "smtp": {"user": "app", "apiKey": "k-17"}}`))))
	// Output: {"to":"ada@example.org","smtp":{"user":"app","apiKey":"[hidden]"}}
}

func ExampleScrubText() {
	fmt.Println(report.ScrubText("dial postgres://app:hunter2@db:5432/shop: connection refused"))
	// Output: dial postgres://app:[hidden]@db:5432/shop: connection refused
}
