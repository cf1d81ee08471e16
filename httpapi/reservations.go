package httpapi

import "github.com/rotajobs/rota"

func (a *api) reservationRoutes() {
	get(a, operation{
		method: "GET", path: "/reservations", id: "list-reservations", tag: "Jobs", summary: "List the reservations of direct runs",
		description: "Active and past, newest first.", query: pageParams(), answer: List[Reservation]{},
	}, func(c *call) (reply, error) {
		limit, before, err := c.idPage(markReservations)
		if err != nil {
			return reply{}, err
		}
		rows, err := c.Store.Reservations(c.ctx, before, askFor(limit))
		if err != nil {
			return reply{}, err
		}
		return ok(pageOf(rows, limit, NewReservation, func(r *rota.Reservation) Text { return idCursor(markReservations, r.ID) }))
	})
}
