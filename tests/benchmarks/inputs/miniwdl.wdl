version 1.0
# Runs on any git working tree, with nothing but Python and git.
# Runs on any git working tree, with nothing but Python and git.
# Runs on any git working tree, with nothing but Python and git.
# Runs on any git working tree, with nothing but Python and git.
# Runs on any git working tree, with nothing but Python and git.
# Runs on any git working tree, with nothing but Python and git.
# Runs on any git working tree, with nothing but Python and git.
# Runs on any git working tree, with nothing but Python and git.
# Runs on any git working tree, with nothing but Python and git.
# Runs on any git working tree, with nothing but Python and git.
# Runs on any git working tree, with nothing but Python and git.

workflow review_changes {
  input {
    String base = "HEAD"
    Int longest = 100
    Array[File] changed
  }
  scatter (file in changed) {
    call check_file { input: file = file, longest = longest }
  }
  call verdict { input: problems = check_file.problems }
  if (verdict.verdict == "clean") {
    call approve { input: summary = verdict.summary }
  }
  if (verdict.verdict != "clean") {
    call list_problems { input: summary = verdict.summary, base = base }
  }
  output {
    String decided = verdict.verdict
    String report = verdict.summary
  }
}

task check_file {
  input {
    File file
    Int longest
  }
  command <<<
    set -eu
    python3 tools/check_file.py ~{file} ~{longest}
  >>>
  output {
    Array[String] problems = read_lines(stdout())
  }
}

task verdict {
  input {
    Array[Array[String]] problems
  }
  command <<<
    set -eu
    python3 tools/verdict.py ~{write_json(problems)}
  >>>
  output {
    String verdict = read_string('verdict')
    String summary = read_string('summary')
  }
}

task approve {
  input {
    String summary
  }
  command <<<
    echo 'nothing to complain about' ~{summary}
  >>>
  output {
    String said = read_string(stdout())
  }
}

task list_problems {
  input {
    String summary
    String base
  }
  command <<<
    set -eu
    python3 tools/list_problems.py ~{summary} ~{base}
  >>>
  output {
    Array[String] lines = read_lines(stdout())
  }
}

