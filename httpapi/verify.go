package httpapi

import "github.com/rotajobs/rota/api"

const violationsMax = 1000

func (a *server) verifyRoutes() {
	get(a, operation{
		method: "GET", path: "/verify", id: "verify", tag: "Server", summary: "Check every invariant of the store",
		description: "Reads every row, which may take a while. The check ends when the client disconnects. Only one check runs at a time.", response: api.Verification{}, errors: []int{409}, class: classVerify,
	}, verifyStore)
}

func verifyStore(c *call) (reply, error) {
	clearDeadlines(c.w)
	found := api.Verification{Violations: []api.Violation{}}
	for v, err := range c.Store.Verify(c.ctx) {
		if err != nil {
			return reply{}, err
		}
		if len(found.Violations) == violationsMax {
			found.More = true
			break
		}
		found.Violations = append(found.Violations, api.Violation{Check: v.Check, Rows: append([]string{}, v.Rows...), Detail: v.Detail})
	}
	found.Clean = len(found.Violations) == 0
	return ok(found)
}
