cwlVersion: v1.2
class: Workflow
requirements:
  ScatterFeatureRequirement: {}
inputs:
  longest: int
  changed: File[]
outputs:
  report:
    type: File
    outputSource: listed/out
steps:
  checked:
    scatter: file
    run:
      class: CommandLineTool
      baseCommand: [python3, tools/checked.py]
      inputs:
        file:
          type: File
          inputBinding: {position: 1}
        longest:
          type: int
          inputBinding: {position: 2}
      outputs:
        out:
          type: stdout
      stdout: checked.txt
    in:
      file: changed
      longest: longest
    out: [out]
  judged:
    run:
      class: CommandLineTool
      baseCommand: [python3, tools/judged.py]
      inputs:
        file:
          type: File[]
          inputBinding: {position: 1}
        longest:
          type: int
          inputBinding: {position: 2}
      outputs:
        out:
          type: stdout
      stdout: judged.txt
    in:
      file: checked/out
      longest: longest
    out: [out]
  listed:
    run:
      class: CommandLineTool
      baseCommand: [python3, tools/listed.py]
      inputs:
        file:
          type: File
          inputBinding: {position: 1}
        longest:
          type: int
          inputBinding: {position: 2}
      outputs:
        out:
          type: stdout
      stdout: listed.txt
    in:
      file: judged/out
      longest: longest
    out: [out]
  said:
    run:
      class: CommandLineTool
      baseCommand: [python3, tools/said.py]
      inputs:
        file:
          type: File
          inputBinding: {position: 1}
        longest:
          type: int
          inputBinding: {position: 2}
      outputs:
        out:
          type: stdout
      stdout: said.txt
    in:
      file: listed/out
      longest: longest
    out: [out]
