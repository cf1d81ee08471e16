package httpapi

const violationsMax = 1000

func (a *api) verifyRoutes() {
	get(a, operation{
		method: "GET", path: "/verify", id: "verify", tag: "Server", summary: "Check every invariant of the store",
		description: "Reads every row, which may take a while. The check ends when the client disconnects. Only one check runs at a time.", response: Verification{}, errors: []int{409}, class: classVerify,
	}, verifyStore)
}

func verifyStore(c *call) (reply, error) {
	clearDeadlines(c.w)
	found := Verification{Violations: []Violation{}}
	for v, err := range c.Store.Verify(c.ctx) {
		if err != nil {
			return reply{}, err
		}
		if len(found.Violations) == violationsMax {
			found.More = true
			break
		}
		found.Violations = append(found.Violations, Violation{Check: v.Check, Rows: append([]string{}, v.Rows...), Detail: v.Detail})
	}
	found.Clean = len(found.Violations) == 0
	return ok(found)
}
