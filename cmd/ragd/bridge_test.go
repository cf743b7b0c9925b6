package main

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// mcpServer serves each connection with do and tells when one ends.
func (b *box) mcpServer(do func(net.Conn)) (begun, ended <-chan struct{}) {
	b.t.Helper()
	l, err := net.Listen("unix", b.mcpSocket())
	must(b.t, err)
	b.t.Cleanup(func() { _ = l.Close() })
	met, done := make(chan struct{}, 8), make(chan struct{}, 8)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			met <- struct{}{}
			go func() {
				do(c)
				_ = c.Close()
				done <- struct{}{}
			}()
		}
	}()
	return met, done
}

func within(t *testing.T, c <-chan struct{}, limit time.Duration, what string) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(limit):
		t.Fatalf("%s: not within %s", what, limit)
	}
}

// exits waits for a process and returns its exit code.
func exits(t *testing.T, cmd *exec.Cmd, limit time.Duration) int {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	select {
	case err := <-done:
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		return cmd.ProcessState.ExitCode()
	case <-time.After(limit):
		_ = cmd.Process.Kill()
		t.Fatalf("the bridge still runs after %s", limit)
		return 0
	}
}

func echo(c net.Conn) { _, _ = io.Copy(c, c) }

func TestTheBridgePassesBytesAndAddsNone(t *testing.T) {
	b := newBox(t)
	b.mcpServer(echo)
	sent := make([]byte, 3<<20)
	for i := range sent {
		sent[i] = byte(i * 7)
	}
	t.Setenv("LOG_LEVEL", "debug")
	cmd := b.program("mcp")
	var out, errOut bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(sent), &out, &errOut
	must(t, cmd.Start())
	// Standard input ends before the last answer has come; that one is still delivered.
	if code := exits(t, cmd, 10*time.Second); code != 0 {
		t.Errorf("exit code %d, %s", code, errOut.String())
	}
	if !bytes.Equal(out.Bytes(), sent) || errOut.Len() > 0 {
		t.Errorf("%d bytes came back of %d; stderr %q", out.Len(), len(sent), errOut.String())
	}
}

func TestTheBridgeWithoutADaemonSaysSoOnStandardErrorAlone(t *testing.T) {
	b := newBox(t)
	cmd := b.program("mcp")
	var out, errOut bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader("{}\n"), &out, &errOut
	must(t, cmd.Start())
	if code := exits(t, cmd, 5*time.Second); code != exitNoDaemon {
		t.Errorf("exit code %d", code)
	}
	if out.Len() > 0 || !strings.Contains(errOut.String(), "ragd serve") || !strings.Contains(errOut.String(), b.mcpSocket()) {
		t.Errorf("out %q err %q", out.String(), errOut.String())
	}
}

func TestTheBridgeEndsWhenTheDaemonDoes(t *testing.T) {
	b := newBox(t)
	b.mcpServer(func(c net.Conn) { _, _ = io.WriteString(c, "bye\n") })
	cmd := b.program("mcp")
	in, err := cmd.StdinPipe()
	must(t, err)
	defer func() { _ = in.Close() }()
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	must(t, cmd.Start())
	if code := exits(t, cmd, 5*time.Second); code != exitFailed || out.String() != "bye\n" || !strings.Contains(errOut.String(), "daemon_gone") {
		t.Errorf("exit code %d, out %q err %q", code, out.String(), errOut.String())
	}
}

func TestTheBridgeEndsWithItsHost(t *testing.T) {
	hang := func(c net.Conn) { _, _ = io.Copy(io.Discard, c) }
	stubborn := func(c net.Conn) { // reads to the end and then does not close by itself
		_, _ = io.Copy(io.Discard, c)
		time.Sleep(time.Second)
	}
	t.Run("input ends", func(t *testing.T) {
		b := newBox(t)
		b.mcpServer(stubborn)
		cmd := b.program("mcp")
		cmd.Stdin = strings.NewReader("x")
		must(t, cmd.Start())
		if code := exits(t, cmd, 6*time.Second); code != 0 {
			t.Errorf("exit code %d", code)
		}
	})
	t.Run("input ends and the daemon closes at once", func(t *testing.T) {
		b := newBox(t)
		begun, ended := b.mcpServer(hang)
		for range 50 { // which end is seen first is a race
			var warned bytes.Buffer
			cmd := b.program("mcp")
			cmd.Stdin, cmd.Stderr = strings.NewReader("asked\n"), &warned
			if err := cmd.Run(); err != nil || warned.Len() > 0 {
				t.Fatalf("%v: %s", err, &warned)
			}
			<-begun
			<-ended
		}
	})
	t.Run("SIGTERM", func(t *testing.T) {
		b := newBox(t)
		begun, ended := b.mcpServer(hang)
		cmd := b.program("mcp")
		in, err := cmd.StdinPipe()
		must(t, err)
		must(t, cmd.Start())
		defer func() { _ = in.Close() }()
		within(t, begun, 30*time.Second, "the bridge connects")
		must(t, cmd.Process.Signal(syscall.SIGTERM))
		exits(t, cmd, 5*time.Second)
		within(t, ended, 5*time.Second, "it ends after SIGTERM")
	})
	t.Run("output is closed", func(t *testing.T) {
		b := newBox(t)
		begun, ended := b.mcpServer(func(c net.Conn) {
			for {
				if _, err := io.WriteString(c, "tick\n"); err != nil {
					return
				}
				time.Sleep(20 * time.Millisecond)
			}
		})
		cmd := b.program("mcp")
		in, err := cmd.StdinPipe()
		must(t, err)
		defer func() { _ = in.Close() }()
		out, err := cmd.StdoutPipe()
		must(t, err)
		must(t, cmd.Start())
		within(t, begun, 30*time.Second, "the bridge connects")
		must(t, out.Close())
		exits(t, cmd, 5*time.Second)
		within(t, ended, 5*time.Second, "it ends after its output was closed")
	})
	t.Run("host is killed while another holds its input open", func(t *testing.T) {
		b := newBox(t)
		begun, ended := b.mcpServer(hang)
		fifo := filepath.Join(b.home, "in")
		must(t, syscall.Mkfifo(fifo, 0o600))
		held, err := os.OpenFile(fifo, os.O_RDWR, 0) // no end of input, ever
		must(t, err)
		defer func() { _ = held.Close() }()
		host := exec.Command("sh", "-c", `"$0" mcp <"$1" & echo started; wait`, os.Args[0], fifo)
		host.Env = append(os.Environ(), asProgram+"=1")
		out, err := host.StdoutPipe()
		must(t, err)
		must(t, host.Start())
		_, err = io.ReadFull(out, make([]byte, len("started\n")))
		must(t, err)
		within(t, begun, 30*time.Second, "the bridge connects")
		must(t, host.Process.Kill())
		_ = host.Wait()
		within(t, ended, 5*time.Second, "it ends after its host was killed")
	})
}
