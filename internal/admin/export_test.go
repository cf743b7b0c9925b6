package admin

import "net/http"

// HandlerForTest is the API without a listener.
func (s *Server) HandlerForTest() http.Handler { return s.handler(make(chan struct{})) }
