package config

import "time"

func embeddingKeys() []Key {
	return []Key{
		boolKey(Key{Name: "embeddings.enabled", Env: "EMBEDDINGS_ENABLED", Default: "true",
			Doc: "Search by meaning as well as by words."},
			func(c *Config) *bool { return &c.Embeddings.Enabled }),
		pathKey(Key{Name: "embeddings.model_dir", Env: "EMBEDDINGS_MODEL_DIR",
			Doc: "A folder with another model of the BERT family in the Hugging Face layout. Default: the built-in model."},
			func(c *Config) *string { return &c.Embeddings.ModelDir }),
		urlKey(Key{Name: "embeddings.base_url", Env: "EMBEDDINGS_BASE_URL",
			Doc: "An OpenAI-compatible server to embed with, such as http://127.0.0.1:11434/v1. Default: embed in this process; nothing goes over the network then."},
			func(c *Config) *string { return &c.Embeddings.BaseURL }),
		textKey(Key{Name: "embeddings.api_key", Env: "EMBEDDINGS_API_KEY", Secret: true, Allowed: "printable ASCII characters",
			Doc: "The key for that server."},
			checkHeaderText, func(c *Config) *string { return &c.Embeddings.APIKey }),
		textKey(Key{Name: "embeddings.model", Env: "EMBEDDINGS_MODEL", Allowed: "a model's name, at most 200 characters",
			Doc: "The model to ask that server for."},
			checkName, func(c *Config) *string { return &c.Embeddings.Model }),
		intKey(Key{Name: "embeddings.dimension", Env: "EMBEDDINGS_DIMENSION", Default: "0",
			Doc: "The length of that model's vectors, asked for where the server lets one ask. 0 = as they come."},
			0, 8192, func(c *Config) *int { return &c.Embeddings.Dimension }),
		millisKey(Key{Name: "embeddings.timeout_ms", Env: "EMBEDDINGS_TIMEOUT_MS", Default: "30000",
			Doc: "Milliseconds to wait for that server's answer. A query waits 900 at most, and goes by keyword then."},
			100, 600_000, func(c *Config) *time.Duration { return &c.Embeddings.Timeout }),
		intKey(Key{Name: "embeddings.threads", Env: "EMBED_THREADS", Default: "0",
			Doc: "Threads for embedding in this process. 0 = half of the CPUs, all of them when nothing was asked or indexed for half a minute."},
			0, 256, func(c *Config) *int { return &c.Embeddings.Threads }),
	}
}

func contextualKeys() []Key {
	return []Key{
		boolKey(Key{Name: "contextual_chunking.enabled", Env: "CONTEXTUAL_CHUNKING_ENABLED", Default: "false",
			Doc: "Put a sentence about its document before each chunk when it is embedded. The stored text stays as it is, and a chunk that gets no sentence is embedded without. Takes effect for documents indexed from then on; all of them after ragd reindex --force."},
			func(c *Config) *bool { return &c.Contextual.Enabled }),
		urlKey(Key{Name: "contextual_chunking.base_url", Env: "CONTEXTUAL_CHUNKING_BASE_URL",
			Doc: "The OpenAI-compatible chat server that writes these sentences."},
			func(c *Config) *string { return &c.Contextual.BaseURL }),
		textKey(Key{Name: "contextual_chunking.api_key", Env: "CONTEXTUAL_CHUNKING_API_KEY", Secret: true, Allowed: "printable ASCII characters",
			Doc: "The key for that server."},
			checkHeaderText, func(c *Config) *string { return &c.Contextual.APIKey }),
		textKey(Key{Name: "contextual_chunking.model", Env: "CONTEXTUAL_CHUNKING_MODEL", Allowed: "a model's name, at most 200 characters",
			Doc: "The model to ask that server for."},
			checkName, func(c *Config) *string { return &c.Contextual.Model }),
		millisKey(Key{Name: "contextual_chunking.timeout_ms", Env: "CONTEXTUAL_CHUNKING_TIMEOUT_MS", Default: "30000",
			Doc: "Milliseconds to wait for a sentence; the chunk is embedded without it after that."},
			100, 600_000, func(c *Config) *time.Duration { return &c.Contextual.Timeout }),
		intKey(Key{Name: "contextual_chunking.concurrency", Env: "CONTEXTUAL_CHUNKING_CONCURRENCY", Default: "2",
			Doc: "Sentences asked for at once."},
			1, 64, func(c *Config) *int { return &c.Contextual.Concurrency }),
	}
}
