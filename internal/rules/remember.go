package rules

import "github.com/rotajobs/rota"

// lapsedMax is how many keys that are free again go with each that is tied.
// More than one, so that there are never many more than are in use, whether or
// not anybody prunes.
const lapsedMax = 2

func requestKey(c *rota.Remember) RequestKey { return RequestKey{Actor: c.Actor, Key: c.Key} }

func needRemember(n *Need, c *rota.Remember) {
	n.request(requestKey(c))
	n.lapsed(lapsedOf(n.unit, lapsedMax))
}

// decideRemember ties a key to a command, or says to which one it is tied.
func decideRemember(w *UnitOfWork, c *rota.Remember) (rota.Reply, *rota.Error) {
	key := requestKey(c)
	switch held := w.requests.get(key); {
	case held == nil || !held.At.Add(rota.RequestKeep).After(w.Now):
	case held.Hash != c.Hash:
		return nil, &rota.Error{
			Code: rota.Conflict, Field: "key", Reason: "the key was used for another request, at " + stamp(held.At),
			Hint: "use a new key for each request, and the same one only to send it again unchanged",
		}
	default:
		return &rota.Remembered{Command: held.Command, Known: held.Command != c.Command}, nil
	}
	forgetLapsed(w, lapsedMax)
	w.requests.set(w, key, &Request{Key: key, Hash: c.Hash, Command: c.Command, At: w.Now})
	return &rota.Remembered{Command: c.Command}, nil
}

// forgetLapsed removes keys that are free again.
func forgetLapsed(w *UnitOfWork, limit int) {
	for _, key := range w.lapsed.get(lapsedOf(w, limit)) {
		w.requests.set(w, key, nil)
	}
}

func lapsedOf(w *UnitOfWork, limit int) ExpiredRequests {
	return ExpiredRequests{By: w.Now.Add(-rota.RequestKeep).UnixMicro(), Limit: limit}
}
