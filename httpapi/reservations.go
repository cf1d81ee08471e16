package httpapi

import (
	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
)

func (a *server) reservationRoutes() {
	get(a, operation{
		method: "GET", path: "/reservations", id: "list-reservations", tag: "Jobs", summary: "List reservations of direct runs",
		description: "Active and past, newest first.", query: pageParams(), response: api.List[api.Reservation]{},
	}, func(c *call) (reply, error) {
		return idList(c, cursorReservations, c.Store.Reservations, api.NewReservation, func(r *rota.Reservation) rota.ID { return r.ID })
	})
}
