package report

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/scrub"
)

// typeHTTP is the type of package action that sends a request. Any part of the request may
// be a secret.
const typeHTTP = "http"

// params returns the params of a job without secrets. Long params are omitted, because
// truncated JSON is not JSON.
func params(job *rota.Job) any {
	switch {
	case len(job.Params) > paramsMax:
		return fmt.Sprintf("[%d bytes, too long to send]", len(job.Params))
	case job.Type == typeHTTP:
		return request(job.Params)
	case job.Type == rota.TypeWebhook:
		return delivery(job.Params)
	}
	return scrub.JSON(job.Params)
}

// request returns the parts of a request that are not secret.
func request(params json.RawMessage) any {
	var p struct {
		Method  string            `json:"method"`
		URL     string            `json:"url"`
		Headers map[string]string `json:"headers"`
	}
	if json.Unmarshal(params, &p) != nil {
		return scrub.Hidden
	}
	headers := map[string]string{}
	for name, value := range p.Headers {
		if name = http.CanonicalHeaderKey(name); scrub.Harmless(name) {
			headers[name] = scrub.Text(value)
		}
	}
	return map[string]any{"method": p.Method, "host": hostOf(p.URL), "headers": headers}
}

// delivery returns the params of a webhook delivery without the address, which can be a
// secret itself.
func delivery(params json.RawMessage) any {
	d, err := rota.ParseDelivery(params)
	if err != nil {
		return scrub.Hidden
	}
	d.URL = hostOf(d.URL)
	return scrub.JSON(rota.EncodeSpec(d))
}

func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return scrub.Hidden
	}
	return u.Host
}
