package main

import (
	"context"
	"fmt"
	"net"
	"sync"

	"ragd/internal/config"
	"ragd/internal/search"
	"ragd/internal/usock"
	"ragd/internal/wire"
	"ragd/mcpserver"
)

// mcpDeps are the parts that every MCP server of this daemon speaks for.
func (d *daemon) mcpDeps() mcpserver.Deps {
	return mcpserver.Deps{
		Store: mcpIndex{d.store}, Search: d.searcher, Files: d.set,
		Index: mcpWork{d.indexer}, Fresh: freshener{d}, Status: statusSource{d},
		Chunks: d.store, Docs: d.store, FTS: search.NewSyntax(d.searcher, d.store), Audit: d.auditWrite,
	}
}

// mcpOptions are the options of the server for an agent; the zero agent is
// the owner's, on the main socket.
func (d *daemon) mcpOptions(cfg *config.Config, a config.Agent) mcpserver.Options {
	o := mcpserver.Options{
		Version: versionText(), Surface: mcpserver.Surface(cfg.MCP.Surface), Logger: d.log,
		KnowledgeDisabled: !cfg.Knowledge.Enabled,
		Limits:            mcpserver.Limits{SnippetChars: cfg.SnippetMaxChars, DocumentBytes: d.cfg.MaxFileBytes},
	}
	if a.Name != "" {
		o.Agent = mcpserver.Agent{
			Name: a.Name, KBs: a.KBs, ReadOnly: a.ReadOnly, Tools: a.Tools, Root: a.Root, NoKnowledge: !a.Knowledge,
		}
	}
	return o
}

// agentDoors are the agents' sockets that are open, by path. Whoever connects
// to one is the agent it belongs to; when that changes, so does what those who
// are connected may do. One goroutine, runDoors, changes them.
type agentDoors struct {
	changes chan doorChange

	mu   sync.Mutex
	open map[string]*agentDoor
}

// doorChange asks for the agents of cfg. commit is called when all sockets
// are there and before any agent has changed; its error changes nothing.
type doorChange struct {
	cfg    *config.Config
	commit func() error
	result chan error // takes one without blocking
}

type agentDoor struct {
	agent  config.Agent // guarded by agentDoors.mu
	server *mcpserver.Server
	stop   context.CancelFunc
	done   chan struct{}
}

// changeAgents has runDoors change the agents.
func (d *daemon) changeAgents(ctx context.Context, cfg *config.Config, commit func() error) error {
	c := doorChange{cfg, commit, make(chan error, 1)}
	select {
	case d.doors.changes <- c:
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case err := <-c.result:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// runDoors keeps the agents' sockets until ctx ends.
func (d *daemon) runDoors(ctx context.Context) {
	defer d.doors.close(func(string) bool { return true })
	for {
		select {
		case <-ctx.Done():
			return
		case c := <-d.doors.changes:
			c.result <- d.setAgents(ctx, c.cfg, c.commit)
		}
	}
}

// setAgents opens, changes and closes sockets so that they are those of cfg.
// When one cannot be opened nothing is changed. ctx is the daemon's.
func (d *daemon) setAgents(ctx context.Context, cfg *config.Config, commit func() error) error {
	listeners, err := d.doors.listen(cfg.Agents)
	if err == nil {
		if err = commit(); err != nil {
			closeAll(listeners)
		}
	}
	if err != nil {
		return err
	}
	wanted := map[string]bool{}
	for _, a := range cfg.Agents {
		wanted[a.Socket] = true
		if l, ok := listeners[a.Socket]; ok {
			d.openDoor(ctx, l, a, d.mcpOptions(cfg, a))
			continue
		}
		d.doors.mu.Lock()
		door := d.doors.open[a.Socket]
		if door != nil {
			door.agent = a
		}
		d.doors.mu.Unlock()
		if door != nil { // else it broke just now
			door.server.Update(d.mcpOptions(cfg, a))
		}
	}
	d.doors.close(func(path string) bool { return !wanted[path] })
	return nil
}

func closeAll(listeners map[string]net.Listener) {
	for _, l := range listeners {
		_ = l.Close() // nobody has connected yet
	}
}

// listen opens the sockets that are not open yet; all of them or none.
func (s *agentDoors) listen(agents []config.Agent) (map[string]net.Listener, error) {
	listeners := map[string]net.Listener{}
	for _, a := range agents {
		s.mu.Lock()
		_, ok := s.open[a.Socket]
		s.mu.Unlock()
		if ok {
			continue
		}
		l, err := usock.Listen(a.Socket, fmt.Sprintf("agent.socket of %q", a.Name))
		if err != nil {
			closeAll(listeners)
			return nil, err
		}
		listeners[a.Socket] = l
	}
	return listeners, nil
}

func (d *daemon) openDoor(ctx context.Context, l net.Listener, a config.Agent, o mcpserver.Options) {
	ctx, stop := context.WithCancel(ctx)
	door := &agentDoor{agent: a, server: mcpserver.New(o, d.mcpDeps()), stop: stop, done: make(chan struct{})}
	d.doors.mu.Lock()
	if d.doors.open == nil {
		d.doors.open = map[string]*agentDoor{}
	}
	d.doors.open[a.Socket] = door
	d.doors.mu.Unlock()
	go func() {
		defer close(door.done)
		if err := door.server.Serve(ctx, l); err != nil {
			d.log.Error("the socket of an agent broke; reload opens it again", "agent", a.Name, "socket", a.Socket, "error", err)
			d.doors.mu.Lock()
			if d.doors.open[a.Socket] == door {
				delete(d.doors.open, a.Socket)
			}
			d.doors.mu.Unlock()
		}
	}()
	d.log.Info("agent", "name", a.Name, "socket", a.Socket)
}

// close closes the doors that gone names, ends their connections and waits
// for them.
func (s *agentDoors) close(gone func(path string) bool) {
	var doors []*agentDoor
	s.mu.Lock()
	for path, door := range s.open {
		if gone(path) {
			doors = append(doors, door)
			delete(s.open, path)
		}
	}
	s.mu.Unlock()
	for _, door := range doors {
		door.stop()
	}
	for _, door := range doors {
		<-door.done
	}
}

// sessions are the clients on all sockets; their ids tell the sockets apart.
func (d *daemon) sessions() []wire.Agent {
	out := sessionsOf(d.mcp)
	d.doors.mu.Lock()
	doors := make([]*agentDoor, 0, len(d.doors.open))
	agents := make([]config.Agent, 0, len(d.doors.open))
	for _, door := range d.doors.open {
		doors, agents = append(doors, door), append(agents, door.agent)
	}
	d.doors.mu.Unlock()
	for i, door := range doors {
		for _, x := range sessionsOf(door.server) {
			x.Session, x.Name, x.Scope = agents[i].Name+"/"+x.Session, agents[i].Name, scopeOf(agents[i])
			out = append(out, x)
		}
	}
	return out
}

func scopeOf(a config.Agent) *wire.Scope {
	return &wire.Scope{KBs: a.KBs, Tools: a.Tools, ReadOnly: a.ReadOnly, NoKnowledge: !a.Knowledge, Root: a.Root}
}

func sessionsOf(s *mcpserver.Server) []wire.Agent {
	var out []wire.Agent
	for _, x := range s.Sessions() {
		out = append(out, wire.Agent{
			Session: x.ID, Name: x.Name, Client: x.Client, Connected: x.Connected,
			Calls: x.Calls, LastTool: x.LastTool, LastQuery: x.LastQuery,
		})
	}
	return out
}
