package mcpserver

// Update changes what the agent may do, which tools are listed and how long
// texts are, from the next request on, also for the clients that are
// connected. Calls under way end as they began. The limits of connections
// stay those of New.
func (s *Server) Update(o Options) {
	o.Name, o.Version, o.Logger = s.opts.Name, s.opts.Version, s.opts.Logger
	s.successor.Store(New(o, s.deps))
}

// current is the server whose options are in force. It only answers: the
// connections, and what bounds them, stay with the one that accepted them.
func (s *Server) current() *Server {
	if n := s.successor.Load(); n != nil {
		return n
	}
	return s
}
